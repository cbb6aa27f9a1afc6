// Text as it may reach a terminal: names, paths and files of others hold what a terminal would obey, and
// bytes that are no text. Whatever is written for people goes through here at the end, so that nobody before
// has to think of it.
#pragma once

#include <string>
#include <string_view>

namespace shardlab {

// What becomes of the sequences in colours.h. Where they are kept a name that holds one is seen in colour,
// which is all that they can do.
enum class Colours { shown, kept };

// Control characters, but for line feeds and tabs, as \u001b, and bytes that are no UTF-8 as \xff: what JSON
// and YAML read back. All else is as it was.
std::string printable(std::string_view text, Colours colours = Colours::shown);

// Whether that is the text itself.
bool is_printable(std::string_view text, Colours colours = Colours::shown);

}  // namespace shardlab

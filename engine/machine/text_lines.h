// Lines and words of the texts of a machine. Private to this folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shardlab {

// Without line feeds and carriage returns; empty ones are left out.
std::vector<std::string_view> lines_of(std::string_view text);

// What stands between blanks and tabs.
std::vector<std::string_view> words_in(std::string_view line);

std::string trimmed(std::string_view text);

// The word behind the first `name` of the text; empty where there is none.
std::string word_after(std::string_view text, std::string_view name);

}  // namespace shardlab

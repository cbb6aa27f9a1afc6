// Words of a shell script, alone and in arrays.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/formats/launchers/shell_input.h"

namespace shardlab {

// Reads the word at the cursor, which is no space. As it is written it may become several: variables outside
// quotes are split, arrays are their words. Or none: an empty variable. `may_set`: NAME= may begin it, whose
// value is one word. Errors: a quote that does not end, a word that is too long.
Result<std::vector<ShellWord>> read_words(ShellInput& input, bool may_set);

// Reads the words of NAME=( ... ) or NAME+=( ... ) into the input's arrays; the cursor is at the parenthesis.
// Errors: those of read_words(), too many words, a parenthesis that does not end.
Status read_array(ShellInput& input, const std::string& name);

// A word NAME=value or NAME+=value, taken apart: views of the word.
struct ShellSetting {
  std::string_view name;
  bool adds = false;  // += instead of =
  std::string_view value;
};
std::optional<ShellSetting> as_setting(const ShellWord& word);

}  // namespace shardlab

#include "engine/formats/launchers/shell_comments.h"

#include <span>
#include <string_view>
#include <utility>

#include "engine/formats/launchers/batch_options.h"

namespace shardlab {
namespace {

constexpr std::string_view k_batch_start = "#SBATCH";

ShellWord read_batch_word(ShellInput& input) {
  ShellWord word;
  word.place = input.cursor.place();
  while (!input.cursor.is_at_end() && !input.cursor.is_at_space()) append_next(input, word);
  return word;
}

// To the end of the line or a comment in it.
void read_batch_words(ShellInput& input, std::vector<ShellWord>& batch) {
  ShellCursor& cursor = input.cursor;
  while (!cursor.is_at_end() && !cursor.is_at_one_of("\n#")) {
    if (cursor.is_at_space()) {
      cursor.take();
      continue;
    }
    batch.push_back(read_batch_word(input));
    ++input.amount.words;
    if (input.amount.has_too_many_words()) return;
  }
}

}  // namespace

void read_comment(ShellInput& input, std::vector<ShellWord>& batch) {
  if (input.cursor.is_at(k_batch_start)) {
    const std::size_t first = batch.size();
    input.cursor.skip(k_batch_start.size());
    read_batch_words(input, batch);
    for (auto& [name, value] : batch_variables(std::span(batch).subspan(first)))
      input.variables[name] = std::move(value);
  }
  input.cursor.skip_line();
}

}  // namespace shardlab

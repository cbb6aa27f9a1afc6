// A lesson.yaml, and the Markdown of its texts.
#include "engine/lessons/markdown.h"
#include "engine/lessons/read_lesson.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"
#include "tests/fuzz/scratch_file.h"

namespace shardlab::fuzz {

Answer read_lesson_text(std::string_view bytes) {
  (void)lessons::markdown_for_terminal(bytes, 40, true);
  (void)lessons::markdown_as_html(bytes);
  scratch_file("lesson.yaml", bytes);
  return answer_of(lessons::read_lesson(scratch_folder()));
}

}  // namespace shardlab::fuzz

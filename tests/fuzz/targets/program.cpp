// The source of a training program, as lines that rules compare.
#include "engine/doctor/program/read_program.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {

Answer read_program_text(std::string_view bytes) {
  const ProgramFile file = read_program(bytes, "train.py");
  std::int64_t last = 0;
  for (const ProgramLine& line : file.lines) {
    promise(line.number >= last && line.number > 0, "statements come in their order");
    promise(line.function <= line.number, "a function begins before its statements");
    last = line.number;
  }
  return Answer::taken;
}

}  // namespace shardlab::fuzz

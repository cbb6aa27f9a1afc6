// The source of a training program, as lines that can be compared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shardlab {

// A statement of Python, over as many lines of the file as its brackets take.
struct ProgramLine {
  std::int64_t number = 0;    // of its first line, from 1
  std::string text;           // without comments; blanks only between words: `x=f(a,b)`
  std::int64_t function = 0;  // the line of the `def` around it; 0: none
};

struct ProgramFile {
  std::string source;  // its name
  std::vector<ProgramLine> lines;
};

// Files of one program.
using TrainingProgram = std::vector<ProgramFile>;

}  // namespace shardlab

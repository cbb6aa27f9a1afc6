#include "engine/cli/command_line.h"

int main(int argc, char** argv) {
  try {
    return shardlab::run_command_line({argv + 1, argv + argc});
  } catch (...) {  // the list of arguments
    return shardlab::report_no_memory();
  }
}

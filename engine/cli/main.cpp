#include "engine/cli/command_line.h"

int main(int argc, char** argv) {
  return shardlab::run_command_line({argv + 1, argv + argc});
}

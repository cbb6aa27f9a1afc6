// The command line of `shardlab`: finds the command, reads its options, runs it, reports its error.
#pragma once

#include <string>
#include <vector>

namespace shardlab {

// `arguments` without the program's name. Returns the exit code: 0 good, 1 verdict not met, 2 bad input or
// usage, 3 not possible on this machine, 4 a run failed, 70 a defect of shardlab. Writes to stdout and
// stderr; lets no exception out.
int run_command_line(const std::vector<std::string>& arguments) noexcept;

// What is said, and returned, where even an error's text finds no memory. Needs none itself.
int report_no_memory() noexcept;

}  // namespace shardlab

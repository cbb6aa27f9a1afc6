// Scripts that start the ranks of a training: torchrun by hand, torchrun under Slurm.
//
// Source: torch 2.11, distributed/run.py; the example of accelerate 1.15.0, examples/slurm.
#pragma once

#include <span>
#include <string>

#include "engine/formats/tools/export_target.h"

namespace shardlab {

ExportTarget torchrun_target();
ExportTarget slurm_target();

// What both say of a scenario; what trains is the program's, which is the script's argument.
std::span<const ToolKey> launcher_keys();
std::span<const SettingRule> launcher_rules();

// `export NAME='value'`, a line each: launch.env, the interface, the allocator's options, threads.
std::string environment_lines(const ExportSubject& subject);

// Where the environment cannot be written.
TargetRefusal environment_problem(const ExportSubject& subject);

// In single quotes, as every shell reads it back.
std::string shell_quoted(std::string_view text);

}  // namespace shardlab

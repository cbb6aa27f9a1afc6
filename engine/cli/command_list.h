// All commands, in the order of `shardlab --help`.
#pragma once

#include <memory>
#include <vector>

#include "engine/cli/command.h"

namespace shardlab {

std::vector<std::unique_ptr<Command>> make_commands();

// One a file of engine/cli/commands.
std::unique_ptr<Command> make_bench_command();
std::unique_ptr<Command> make_calibrate_command();
std::unique_ptr<Command> make_diff_command();
std::unique_ptr<Command> make_gui_command();
std::unique_ptr<Command> make_hardware_command();
std::unique_ptr<Command> make_history_command();
std::unique_ptr<Command> make_import_command();
std::unique_ptr<Command> make_model_command();
std::unique_ptr<Command> make_models_command();
std::unique_ptr<Command> make_plan_command();
std::unique_ptr<Command> make_run_command();
std::unique_ptr<Command> make_scenario_command();
std::unique_ptr<Command> make_show_command();
std::unique_ptr<Command> make_simulate_command();
std::unique_ptr<Command> make_trace_command();
std::unique_ptr<Command> make_validate_command();
std::unique_ptr<Command> make_version_command();

// A command whose name is taken and whose work is not built yet: exits 3 and says so.
std::unique_ptr<Command> make_unbuilt_command(std::string_view name, std::string_view help);

}  // namespace shardlab

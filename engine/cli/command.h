// A command of the command line: `plan`, `run`, `show` ...
//
// To add one: a file in engine/cli/commands, a line here and in command.cpp, a section in docs/commands.md
// and, with --json, in docs/json.md.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/cli/command_options.h"
#include "engine/cli/console.h"
#include "engine/cli/option_parser.h"

namespace shardlab {

inline constexpr int k_exit_good = 0;
inline constexpr int k_exit_verdict_not_met = 1;
inline constexpr int k_exit_not_judged = 5;

// What a command's run() is given besides its own options. Lives as long as the run.
struct CommandContext {
  const CommonOptions& options;
  Console& console;
};

class Command {
 public:
  virtual ~Command() = default;

  virtual std::string_view name() const = 0;
  virtual std::string_view help() const = 0;               // one line
  virtual std::string_view details() const { return {}; }  // below the options in --help
  virtual CommonUse uses() const { return {}; }            // which common options it accepts

  // Declares options and arguments; what they are bound to must live as long as the command.
  virtual void add_options(OptionParser& parser) = 0;

  // Called once, after the options were read. The result is the exit code; an error of any kind gives its own
  // (exit_code()).
  virtual Result<int> run(CommandContext& context) = 0;
};

// All commands, in the order of `shardlab --help`.
std::vector<std::unique_ptr<Command>> make_commands();

// One a file of engine/cli/commands.
std::unique_ptr<Command> make_bench_command();
std::unique_ptr<Command> make_calibrate_command();
std::unique_ptr<Command> make_diff_command();
std::unique_ptr<Command> make_doctor_command();
std::unique_ptr<Command> make_explain_command();
std::unique_ptr<Command> make_export_command();
std::unique_ptr<Command> make_gui_command();
std::unique_ptr<Command> make_hardware_command();
std::unique_ptr<Command> make_history_command();
std::unique_ptr<Command> make_import_command();
std::unique_ptr<Command> make_lesson_command();
std::unique_ptr<Command> make_model_command();
std::unique_ptr<Command> make_models_command();
std::unique_ptr<Command> make_plan_command();
std::unique_ptr<Command> make_replay_command();
std::unique_ptr<Command> make_backtest_command();
std::unique_ptr<Command> make_recommend_command();
std::unique_ptr<Command> make_residuals_command();
std::unique_ptr<Command> make_run_command();
std::unique_ptr<Command> make_scenario_command();
std::unique_ptr<Command> make_search_command();
std::unique_ptr<Command> make_show_command();
std::unique_ptr<Command> make_simulate_command();
std::unique_ptr<Command> make_trace_command();
std::unique_ptr<Command> make_validate_command();
std::unique_ptr<Command> make_version_command();

}  // namespace shardlab

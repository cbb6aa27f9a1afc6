#include "engine/cli/command.h"

namespace shardlab {

std::vector<std::unique_ptr<Command>> make_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_model_command());
  commands.push_back(make_plan_command());
  commands.push_back(make_simulate_command());
  commands.push_back(make_explain_command());
  commands.push_back(make_search_command());
  commands.push_back(make_recommend_command());
  commands.push_back(make_run_command());
  commands.push_back(make_validate_command());
  commands.push_back(make_calibrate_command());
  commands.push_back(make_bench_command());
  commands.push_back(make_show_command());
  commands.push_back(make_diff_command());
  commands.push_back(make_history_command());
  commands.push_back(make_residuals_command());
  commands.push_back(make_trace_command());
  commands.push_back(make_import_command());
  commands.push_back(make_replay_command());
  commands.push_back(make_backtest_command());
  commands.push_back(make_scenario_command());
  commands.push_back(make_models_command());
  commands.push_back(make_hardware_command());
  commands.push_back(make_version_command());
  commands.push_back(make_export_command());
  commands.push_back(make_doctor_command());
  commands.push_back(make_lesson_command());
  commands.push_back(make_gui_command());
  return commands;
}

}  // namespace shardlab

#include <fmt/format.h>

#include "engine/cli/command_list.h"
#include "engine/cli/run_calibration.h"
#include "engine/cli/run_database.h"
#include "engine/report/text_table.h"
#include "engine/scenario/read_scenario.h"
#include "engine/strategies/plan_scenario.h"

namespace shardlab {
namespace {

class CalibrateCommand final : public Command {
 public:
  std::string_view name() const override { return "calibrate"; }
  std::string_view help() const override {
    return "Measures this machine with short micro-benchmarks, for its predictions";
  }
  CommonUse uses() const override { return {.database = true, .overrides = true, .progress = true}; }

  void add_options(CLI::App& app) override {
    ranks_option_ = app.add_option("--ranks", ranks_, "Processes that measure at the same time [2]")
                        ->check(CLI::Range(1, 1024));
    threads_option_ =
        app.add_option("--threads", threads_, "Threads of each [1]")->check(CLI::Range(1, 1024));
    app.add_option("--scenario", scenario_,
                   "Take ranks and threads from this scenario, and measure its operators too")
        ->type_name("FILE");
  }

  Result<int> run(CommandContext& context) override {
    SHARDLAB_TRY(const std::optional<PlannedScenario> planned, read_shape(context.options));
    SHARDLAB_TRY(RunStore store, open_or_create_runs(context.options));
    context.console.note(fmt::format("calibrating with {} x {} thread{}, about half a minute", ranks_,
                                     threads_, threads_ == 1 ? "" : "s"));
    SHARDLAB_TRY(const Calibration calibration,
                 run_calibration({ranks_, threads_, planned ? &*planned : nullptr}, store, context.console));
    if (context.console.json())
      context.console.print_json(Json::parse(to_json(calibration)));
    else
      context.console.print(summary(calibration, context.console.style()));
    return k_exit_good;
  }

 private:
  // Sets ranks and threads from --scenario, when there is one, and returns it.
  Result<std::optional<PlannedScenario>> read_shape(const CommonOptions& options) {
    if (scenario_.empty()) {
      if (options.overrides.empty()) return std::nullopt;
      return bad_input("--set", "replaces a field of a scenario, and none is given", "give --scenario FILE");
    }
    if (ranks_option_->count() + threads_option_->count() > 0) {
      return bad_input("shardlab calibrate", "--scenario says how many ranks and threads",
                       "leave out --ranks and --threads");
    }
    SHARDLAB_TRY(const Scenario scenario, read_scenario(scenario_, options.overrides));
    if (scenario.cluster.device != "cpu") {
      return not_possible(scenario_,
                          "only processors can be calibrated yet, and this scenario asks for GPUs");
    }
    ranks_ = scenario.cluster.ranks;
    threads_ = scenario.cluster.threads_per_rank;
    SHARDLAB_TRY(PlannedScenario planned, plan_scenario(scenario));
    return std::optional<PlannedScenario>(std::move(planned));
  }

  // The probes with how well the fit meets them.
  static std::string summary(const Calibration& calibration, const TextStyle& style) {
    TextTable table({{.title = "probe", .align = Align::left, .elastic = true},
                     {.title = "shape", .align = Align::left, .elastic = true},
                     {.title = "measured"},
                     {.title = "fitted"},
                     {.title = "error"}});
    for (const ProbeResult& probe : calibration.probes) {
      std::string shape;
      for (const auto& [name, size] : probe.shape)
        shape += fmt::format("{}{} {}", shape.empty() ? "" : ", ", name, size);
      table.add({probe.probe, shape, to_string(Nanoseconds{std::llround(probe.measured_ns)}),
                 to_string(Nanoseconds{std::llround(probe.fitted_ns)}),
                 fmt::format("{:+.1f}%", probe.error() * 100)});
    }
    return fmt::format("calibration {} of {}, {} ranks x {} threads, took {}\n\n", calibration.id,
                       calibration.machine.processor, calibration.machine.ranks,
                       calibration.machine.threads_per_rank,
                       to_string(Nanoseconds{calibration.duration_ns})) +
           table.text(style);
  }

  int ranks_ = 2;
  int threads_ = 1;
  std::string scenario_;
  CLI::Option* ranks_option_ = nullptr;
  CLI::Option* threads_option_ = nullptr;
};

}  // namespace

std::unique_ptr<Command> make_calibrate_command() {
  return std::make_unique<CalibrateCommand>();
}

}  // namespace shardlab

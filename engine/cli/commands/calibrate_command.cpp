#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/input_file.h"
#include "engine/base/output_file.h"
#include "engine/cli/command.h"
#include "engine/cli/launched.h"
#include "engine/cli/run_calibration.h"
#include "engine/cli/stored_runs.h"
#include "engine/planner/plan_scenario.h"
#include "engine/report/text_table.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/read_scenario.h"
#include "simulator/calibrate/calibrate.h"
#include "simulator/calibrate/fit_calibration.h"

namespace shardlab {
namespace {

class CalibrateCommand final : public Command {
 public:
  std::string_view name() const override { return "calibrate"; }
  std::string_view help() const override {
    return "Measures this machine with short micro-benchmarks, for its predictions";
  }
  std::string_view details() const override {
    return "With RANK and WORLD_SIZE set (torchrun, Slurm, mpirun) every process becomes its rank, "
           "on all nodes that the cluster names.";
  }
  CommonUse uses() const override { return {.database = true, .overrides = true, .progress = true}; }

  void add_options(OptionParser& parser) override {
    ranks_option_ =
        parser.value("--ranks", ranks_, "Processes that measure at the same time [2]").range(1, 1024);
    threads_option_ = parser.value("--threads", threads_, "Threads of each [1]").range(1, 1024);
    cluster_option_ =
        parser
            .value("--cluster", cluster_,
                   "The machine as in a scenario, for GPUs: '{gpu: H100-SXM, gpus_per_node: 8}'")
            .type("YAML")
            .excludes(ranks_option_)
            .excludes(threads_option_);
    parser
        .value("--scenario", scenario_, "Take the machine from this scenario, and measure its operators too")
        .type("FILE")
        .excludes(ranks_option_)
        .excludes(threads_option_)
        .excludes(cluster_option_);
    parser
        .value("--refit", measured_,
               "Measure nothing: fit what this calibration measured by this version's formulas")
        .type("FILE")
        .excludes(ranks_option_)
        .excludes(threads_option_)
        .excludes(cluster_option_);
    parser.value("--output", output_, "Write the calibration there too, as JSON").type("FILE");
  }

  Result<int> run(CommandContext& context) override {
    if (!measured_.empty()) return refit(context);
    return run_launched(context.console, [&](RankTeam* team) { return calibrate_with(team, context); });
  }

 private:
  Result<int> calibrate_with(RankTeam* team, CommandContext& context) {
    SHARDLAB_TRY(const std::optional<PlannedScenario> planned, read_shape(context.options));
    CalibrationRequest request{cluster_, planned ? &*planned : nullptr, team};
    if (planned) {
      const ClusterSpec& cluster = *planned->scenario.cluster;
      request.cluster = cluster_text(cluster, team != nullptr ? cluster.nodes : 1);
    }
    if (team != nullptr && !ranks_option_.given()) ranks_ = team->environment().world;
    if (request.cluster.empty())
      request.cluster = fmt::format("{{device: cpu, ranks: {}, threads_per_rank: {}}}", ranks_, threads_);
    SHARDLAB_TRY(const DeviceKind kind, device_kind_of(request.cluster));
    SHARDLAB_TRY(RunStore store, open_or_create_runs(context.options));
    context.console.note(fmt::format("calibrating {}, about {}", request.cluster,
                                     kind == DeviceKind::gpu ? "a minute" : "half a minute"));
    SHARDLAB_TRY(const Calibration calibration, run_calibration(request, store, context.console));
    return show(calibration, context);
  }

  Result<int> refit(CommandContext& context) {
    SHARDLAB_TRY(const std::string text, read_input_file(measured_, {"calibration", std::int64_t{64} << 20}));
    SHARDLAB_TRY(const Calibration measured, calibration_from_json(text, measured_));
    return show(fit_again(measured), context);
  }

  Result<int> show(const Calibration& calibration, CommandContext& context) const {
    if (!output_.empty()) SHARDLAB_CHECK_OK(write_output_file(output_, to_json(calibration) + '\n'));
    if (context.console.json())
      context.console.print_json(Json::parse(to_json(calibration)));
    else
      context.console.print(summary(calibration, context.console.style()));
    return k_exit_good;
  }

  Result<std::optional<PlannedScenario>> read_shape(const CommonOptions& options) const {
    if (scenario_.empty()) {
      if (options.overrides.empty()) return std::nullopt;
      return bad_input("--set", "replaces a field of a scenario, and none is given", "give --scenario FILE");
    }
    SHARDLAB_TRY(const Scenario scenario, read_scenario(scenario_, options.overrides));
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
  std::string cluster_, scenario_, measured_, output_;
  OptionHandle ranks_option_;
  OptionHandle threads_option_;
  OptionHandle cluster_option_;
};

}  // namespace

std::unique_ptr<Command> make_calibrate_command() {
  return std::make_unique<CalibrateCommand>();
}

}  // namespace shardlab

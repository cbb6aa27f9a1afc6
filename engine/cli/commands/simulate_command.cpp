#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/cli/command.h"
#include "engine/cli/predict.h"
#include "engine/cli/simulate/spread_options.h"
#include "engine/cli/simulate/write_allocations.h"
#include "engine/cli/stored_runs.h"
#include "engine/planner/plan_scenario.h"
#include "engine/report/figures.h"
#include "engine/report/json.h"
#include "engine/report/rank_waits_table.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/resolve_device.h"
#include "simulator/simulate.h"

namespace shardlab {
namespace {

// A database keeps every instruction of every rank: of a large model 0.1 MB a rank.
constexpr int k_most_stored_ranks = 512;

class SimulateCommand final : public Command {
 public:
  std::string_view name() const override { return "simulate"; }
  std::string_view help() const override {
    return "Predicted time, communication and memory of a training step";
  }
  CommonUse uses() const override { return {.database = true, .overrides = true}; }

  void add_options(OptionParser& parser) override {
    parser.value("scenario", scenario_, "Scenario file").type("FILE").required();
    parser.flag("--no-store", no_store_, "Do not store the run");
    parser.flag("--peak", peak_, "Also what is alive at the peak, in words");
    parser
        .value("--allocations", allocations_,
               "Also the calls of the caching allocator, for `shardlab replay`")
        .type("FILE");
    parser.flag("--no-calibration", no_calibration_,
                "Shipped figures, even when this machine was calibrated");
    spread_.add_to(parser);
  }

  Result<int> run(CommandContext& context) override {
    SHARDLAB_TRY(const Scenario scenario, read_scenario(scenario_, context.options.overrides));
    SHARDLAB_TRY(const PlannedScenario planned, plan_scenario(scenario));
    SHARDLAB_TRY(std::optional<RunStore> store, open_unless(no_store_, context.options));
    std::optional<Calibration> calibration;
    if (!no_calibration_) {
      SHARDLAB_TRY(calibration, store ? find_calibration(*store, planned.scenario)
                                      : find_calibration_if_any(context.options, planned.scenario));
    }
    SHARDLAB_TRY(const std::optional<Spread> spread, spread_.read(world_size(scenario)));
    if (spread)
      return predict_all_ranks(context.console, planned, calibration, store ? &*store : nullptr, *spread);
    SHARDLAB_TRY(const FinishedRun run,
                 predict(planned, calibration, store ? &*store : nullptr, WithAlternatives::yes));
    SHARDLAB_CHECK_OK(finish(context.console, planned, calibration, run));
    print_run(context.console, run, &plan_at_peak(planned.plan, run.summary), peak_);
    return k_exit_good;
  }

 private:
  // What both ways of predicting do beside printing the run.
  Status finish(Console& console, const PlannedScenario& planned,
                const std::optional<Calibration>& calibration, const FinishedRun& run) const {
    if (!allocations_.empty()) SHARDLAB_CHECK_OK(save_allocations(planned, calibration, run.trace));
    note_when_too_large(console, run.summary);
    return {};
  }

  // With ranks that differ; beside it what they would take if they did not.
  Result<int> predict_all_ranks(Console& console, const PlannedScenario& planned,
                                const std::optional<Calibration>& calibration, RunStore* store,
                                const Spread& spread) const {
    const int ranks = world_size(planned.scenario);
    if (store != nullptr && ranks > k_most_stored_ranks) {
      console.note(
          fmt::format("note: not stored: {} ranks, at most {} are kept", ranks, k_most_stored_ranks));
      store = nullptr;
    }
    SHARDLAB_TRY(const FinishedRun alike, predict(planned, calibration, nullptr));
    SHARDLAB_TRY(const FinishedRun run, predict(planned, calibration, store, WithAlternatives::no, &spread));
    SHARDLAB_CHECK_OK(finish(console, planned, calibration, run));
    const StepPlan& plan = planned.plan.steady;
    const std::vector<RankWait> waits = rank_waits(plan, planned.scenario, run.trace.steps);
    const Nanoseconds step = run.summary.step_time.median, same = alike.summary.step_time.median;
    if (console.json()) {
      Json document = run_json(run.summary, run.id);
      document["alike_step_time_ns"] = same.value;
      document["rank_waits"] = rank_waits_json(waits);
      console.print_json(document);
      return k_exit_good;
    }
    print_run(console, run, &plan_at_peak(planned.plan, run.summary), peak_);
    console.print("\n" + rank_table(waits, console.style()));
    const double longer = static_cast<double>(step.value) / static_cast<double>(same.value) - 1;
    console.print(fmt::format("\na step takes {}, with ranks all alike {} ({})\n", to_string(step),
                              to_string(same), signed_percent(longer)));
    return k_exit_good;
  }

  static Result<std::optional<RunStore>> open_unless(bool no_store, const CommonOptions& options) {
    if (no_store) return std::optional<RunStore>();
    SHARDLAB_TRY(RunStore store, open_or_create_runs(options));
    return std::optional<RunStore>(std::move(store));
  }

  Status save_allocations(const PlannedScenario& planned, const std::optional<Calibration>& calibration,
                          const RunTrace& trace) const {
    SHARDLAB_TRY(const Device device, resolve_device(*planned.scenario.cluster));
    if (device.kind != DeviceKind::gpu)
      return bad_input("--allocations", "processors have no caching allocator", "name a GPU in `cluster`");
    SHARDLAB_TRY(const AllocatorCalls made,
                 allocator_calls({planned, device, calibration ? &*calibration : nullptr}, trace));
    return write_allocations(allocations_, made.options, made.calls);
  }

  std::string scenario_, allocations_;
  SpreadOptions spread_;
  bool peak_ = false;
  bool no_store_ = false;
  bool no_calibration_ = false;
};

}  // namespace

std::unique_ptr<Command> make_simulate_command() {
  return std::make_unique<SimulateCommand>();
}

}  // namespace shardlab

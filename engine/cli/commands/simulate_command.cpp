#include "engine/cli/command.h"
#include "engine/cli/predict.h"
#include "engine/cli/stored_runs.h"
#include "engine/cli/write_allocations.h"
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/resolve_device.h"
#include "simulator/simulate.h"

namespace shardlab {
namespace {

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
    SHARDLAB_TRY(const FinishedRun run,
                 predict(planned, calibration, store ? &*store : nullptr, WithAlternatives::yes));
    if (!allocations_.empty()) {
      SHARDLAB_CHECK_OK(save_allocations(planned, calibration, run.trace));
    }
    note_when_too_large(context.console, run.summary);
    print_run(context.console, run, &plan_at_peak(planned.plan, run.summary), peak_);
    return k_exit_good;
  }

 private:
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
  bool peak_ = false;
  bool no_store_ = false;
  bool no_calibration_ = false;
};

}  // namespace

std::unique_ptr<Command> make_simulate_command() {
  return std::make_unique<SimulateCommand>();
}

}  // namespace shardlab

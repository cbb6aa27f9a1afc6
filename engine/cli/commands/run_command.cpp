#include <nlohmann/json.hpp>

#include "engine/cli/command.h"
#include "engine/cli/measure.h"
#include "engine/cli/stored_runs.h"
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/read_scenario.h"

namespace shardlab {
namespace {

class RunCommand final : public Command {
 public:
  std::string_view name() const override { return "run"; }
  std::string_view help() const override {
    return "Trains for real, one process per rank, and measures every instruction";
  }
  std::string_view details() const override {
    return "With RANK and WORLD_SIZE set (torchrun, Slurm, mpirun) it is that one rank and joins the others.";
  }
  CommonUse uses() const override { return {.database = true, .overrides = true, .progress = true}; }

  void add_options(OptionParser& parser) override {
    parser.value("scenario", scenario_, "Scenario file").type("FILE").required();
    parser
        .value("--save-weights", options_.extras.save_weights,
               "Safetensors file for the weights after the last step")
        .type("FILE");
    parser
        .value("--save-load", options_.extras.save_load,
               "JSON file for how tokens spread over experts, for model.moe.measured")
        .type("FILE");
    parser.value("--keep-spool", options_.keep_spool, "Keep what the ranks write in this folder").type("DIR");
    parser
        .value("--memory-snapshot", options_.extras.memory_snapshot,
               "File for what rank 0's GPU allocator did, as PyTorch's memory viewer reads it")
        .type("FILE");
    parser.flag("--poison", options_.extras.poison,
                "Fill memory with NaN when it is freed and when it is allocated");
    parser
        .value("--jitter", options_.extras.jitter,
               "Delay streams before instructions, by chance from this seed")
        .type("SEED");
  }

  Result<int> run(CommandContext& context) override {
    SHARDLAB_TRY(const Scenario scenario, read_scenario(scenario_, context.options.overrides));
    SHARDLAB_CHECK_OK(check_measurable(scenario));
    SHARDLAB_TRY(const PlannedScenario planned, plan_scenario(scenario));
    SHARDLAB_CHECK_OK(check_inputs(planned, options_));
    SHARDLAB_TRY(RunStore store, open_or_create_runs(context.options));
    SHARDLAB_TRY(const std::optional<FinishedRun> run, measure(planned, options_, store, context.console));
    if (run)
      print_run(context.console, *run, &plan_at_peak(planned.plan, run->summary));
    else if (context.console.json())
      context.console.print_json({{"run_id", nullptr}, {"joined", true}});
    return k_exit_good;
  }

 private:
  std::string scenario_;
  MeasureOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_run_command() {
  return std::make_unique<RunCommand>();
}

}  // namespace shardlab

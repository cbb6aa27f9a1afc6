#include <nlohmann/json.hpp>

#include "engine/cli/command.h"
#include "engine/cli/launched.h"
#include "engine/cli/measure.h"
#include "engine/cli/stored_runs.h"
#include "engine/cli/validation.h"
#include "engine/planner/plan_scenario.h"
#include "engine/report/tables.h"
#include "engine/scenario/choose_implementation.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/run_spec.h"
#include "engine/trace/metrics.h"

namespace shardlab {
namespace {

class ValidateCommand final : public Command {
 public:
  std::string_view name() const override { return "validate"; }
  std::string_view help() const override {
    return "Predicts, runs for real, compares; exits 1 when a tolerance is not met, 5 when times could not "
           "be judged";
  }
  std::string_view details() const override {
    return "With RANK and WORLD_SIZE set (torchrun, Slurm, mpirun) every process becomes its rank: rank 0 "
           "predicts, compares and prints, and all end with its exit code.";
  }
  CommonUse uses() const override { return {.database = true, .overrides = true, .progress = true}; }

  void add_options(OptionParser& parser) override {
    parser.value("scenarios", scenarios_, "Scenario files").type("FILE").required();
    parser.flag("--no-calibrate", no_calibrate_, "Do not calibrate, nor ask whether the calibration holds");
  }

  Result<int> run(CommandContext& context) override {
    return run_launched(context.console, [&](RankTeam* team) { return validate_all(context, team); });
  }

 private:
  Result<int> validate_all(CommandContext& context, RankTeam* team) {
    std::vector<PlannedScenario>
        planned;  // all first: a mistake in the last file should not cost the runs of the others
    for (const std::string& file : scenarios_) {
      SHARDLAB_TRY(Scenario read, read_scenario(file, context.options.overrides));
      const Scenario scenario = issued_by_our_executor(std::move(read));
      SHARDLAB_CHECK_OK(check_measurable(scenario));
      SHARDLAB_CHECK_OK(check_tolerances(scenario.measure->tolerance));
      SHARDLAB_TRY(planned.emplace_back(), plan_scenario(scenario));
      SHARDLAB_CHECK_OK(check_inputs(planned.back(), {}));
    }
    SHARDLAB_TRY(RunStore store, open_or_create_runs(context.options));
    std::vector<Validation> validations;
    for (const PlannedScenario& one : planned) {
      SHARDLAB_TRY(Validation validation, validate(one, !no_calibrate_, team, store, context.console));
      print_text(context.console, validation);
      validations.push_back(std::move(validation));
    }
    const Verdict verdict = verdict_over(validations);
    if (context.console.json()) context.console.print_json(document(validations, verdict));
    if (verdict == Verdict::pass) return k_exit_good;
    return verdict == Verdict::fail ? k_exit_verdict_not_met : k_exit_not_judged;
  }

  static void print_text(Console& console, const Validation& validation) {
    console.print(validation.scenario + ": " + to_string(*validation.predicted.id) + " predicted, " +
                  to_string(*validation.measured.id) + " measured\n\n" +
                  comparison_table(validation.comparison, console.style(), &validation.steady) + "\n");
  }

  // Where nobody gave a tolerance there is nothing that was not met.
  static Verdict verdict_over(const std::vector<Validation>& validations) {
    bool all_judged = true;
    for (const Validation& each : validations) {
      if (each.comparison.verdict == Verdict::fail) return Verdict::fail;
      all_judged = all_judged && each.comparison.times_not_judged.empty();
    }
    return all_judged ? Verdict::pass : Verdict::not_judged;
  }

  static Json document(const std::vector<Validation>& validations, Verdict verdict) {
    if (validations.size() == 1) return validation_json(validations.front());
    Json scenarios = Json::array();
    for (const Validation& validation : validations) scenarios.push_back(validation_json(validation));
    return {{"scenarios", std::move(scenarios)}, {"verdict", to_string(verdict)}};
  }

  std::vector<std::string> scenarios_;
  bool no_calibrate_ = false;
};

}  // namespace

std::unique_ptr<Command> make_validate_command() {
  return std::make_unique<ValidateCommand>();
}

}  // namespace shardlab

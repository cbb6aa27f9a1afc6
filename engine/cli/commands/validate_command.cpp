#include <nlohmann/json.hpp>

#include "engine/cli/command.h"
#include "engine/cli/launched.h"
#include "engine/cli/measure.h"
#include "engine/cli/search/validate_search.h"
#include "engine/cli/stored_runs.h"
#include "engine/cli/validation_list.h"
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
    parser.value("scenarios", scenarios_, "Scenario files").type("FILE");
    parser.value("--search", proof_.search.file, "Instead: run the best configurations of a search file")
        .type("FILE");
    parser.value("--top", proof_.top, "Of a search: so many of the best [3]").type("K").positive();
    parser.value("--write", proof_.write, "Of a search: run nothing, write them there with the commands")
        .type("DIR");
    parser.value("--from", proof_.from, "Of a search: run nothing, take the runs from another database")
        .type("DB");
    parser.flag("--no-calibrate", no_calibrate_, "Do not calibrate, nor ask whether the calibration holds");
  }

  Result<int> run(CommandContext& context) override {
    const bool of_search = !proof_.search.file.empty();
    if (scenarios_.empty() == !of_search)
      return bad_input("validate", "scenario files, or --search with a search file", "one of the two");
    proof_.no_calibrate = no_calibrate_;
    return run_launched(context.console, [&](RankTeam* team) {
      return of_search ? validate_search(context, proof_, team) : validate_all(context, team);
    });
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
    std::vector<ValidatedScenario> all;
    for (const PlannedScenario& one : planned) {
      ValidatedScenario done{one.scenario.name, validate(one, !no_calibrate_, team, store, context.console)};
      // The ranks of a team are other launchers' processes: after a failure they are not what they were.
      if (!done.result && (planned.size() == 1 || team != nullptr)) return fail(done.result.error());
      if (done.result) {
        print_text(context.console, *done.result);
      } else {
        done.diagnosis = context.console.take_diagnosis();
        context.console.note(done.name + ": " + to_string(done.result.error()));
      }
      all.push_back(std::move(done));
    }
    if (all.size() > 1) context.console.print("\n" + validations_table(all, context.console.style()));
    if (context.console.json()) context.console.print_json(validations_json(all));
    return exit_code_of(all);
  }

  static void print_text(Console& console, const Validation& validation) {
    console.print(validation.scenario + ": " + to_string(*validation.predicted.id) + " predicted, " +
                  to_string(*validation.measured.id) + " measured\n\n" +
                  comparison_table(validation.comparison, console.style(), &validation.steady) + "\n");
  }

  std::vector<std::string> scenarios_;
  bool no_calibrate_ = false;
  SearchProof proof_;
};

}  // namespace

std::unique_ptr<Command> make_validate_command() {
  return std::make_unique<ValidateCommand>();
}

}  // namespace shardlab

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/cli/command.h"
#include "engine/cli/explain_instruction.h"
#include "engine/cli/find_instructions.h"
#include "engine/cli/plan_json.h"
#include "engine/cli/select_step.h"
#include "engine/formats/plan_dot.h"
#include "engine/plan/diff.h"
#include "engine/plan/text.h"
#include "engine/planner/plan_scenario.h"
#include "engine/report/tables.h"
#include "engine/report/unit_warnings.h"
#include "engine/scenario/read_scenario.h"

namespace shardlab {
namespace {

class PlanCommand final : public Command {
 public:
  std::string_view name() const override { return "plan"; }
  std::string_view help() const override { return "Units, segments and instructions of a training step"; }
  std::string_view details() const override {
    return "The listing is the public text form of a plan (docs/plan-format.md) below a summary; "
           "with --buffers it reads back to the same plan.";
  }
  CommonUse uses() const override { return {.overrides = true}; }

  void add_options(OptionParser& parser) override {
    parser.value("scenario", scenario_, "Scenario file").type("FILE").required();
    parser.value("--step", step_, "setup, first, steady, or a step's number from 0 [steady]");
    parser.flag("--units", units_, "Only a summary: units, segments, groups, instructions by kind");
    parser.flag("--buffers", buffers_, "Also the buffers, one a line, with class, size and stream");
    parser.flag("--after-each-pass", after_each_pass_, "The steady plan after each pass of its construction");
    parser
        .value("--explain", explain_,
               "One instruction in words: its number, or words as in AllGather u1, layer 3")
        .type("N|WORDS");
    parser
        .value("--diff", diff_, "What differs from the plan of another scenario; exits 1 when something does")
        .type("FILE");
    parser.flag("--dot", dot_, "The plan as a graph for Graphviz");
    parser.value("--rank", rank_, "Whose groups --json and --explain show [0]").not_negative();
  }

  Result<int> run(CommandContext& context) override {
    SHARDLAB_CHECK_OK(one_form_only(context.console.json()));
    std::vector<PassSnapshot> snapshots;
    SHARDLAB_TRY(const ReadScenario read, read_scenario_with_source(scenario_, context.options.overrides));
    SHARDLAB_TRY(const PlannedScenario planned, plan_scenario(read.scenario, &snapshots));
    SHARDLAB_TRY(const StepPlan* step, select_step(planned.plan, step_));
    if (rank_ >= step->world_size) {
      return bad_input("--rank", fmt::format("no rank {}: the scenario has {}", rank_, step->world_size));
    }
    if (!diff_.empty()) return print_diff(context, *step);
    if (!explain_.empty()) return print_explanation(context.console, read.source, planned, *step);
    if (context.console.json()) {
      context.console.print_json(document(planned, *step, snapshots));
    } else {
      context.console.print(listing(context.console, planned, *step, snapshots));
      for (const std::string& warning : unit_warnings(planned)) context.console.note("warning: " + warning);
    }
    return k_exit_good;
  }

 private:
  Status one_form_only(bool json) const {
    const int forms =
        int{units_} + int{after_each_pass_} + int{dot_} + int{!explain_.empty()} + int{!diff_.empty()};
    if (forms > 1)
      return bad_input("shardlab plan",
                       "--units, --after-each-pass, --explain, --diff and --dot exclude each other");
    if (json && dot_) return bad_input("shardlab plan", "--dot has its own format", "leave out --json");
    return {};
  }

  std::string listing(const Console& console, const PlannedScenario& planned, const StepPlan& step,
                      const std::vector<PassSnapshot>& snapshots) const {
    if (units_) return plan_summary(planned, console.style());
    if (dot_) return plan_dot(step);
    const auto shown = [&](const StepPlan& plan) {
      return buffers_ ? to_text(plan) : without_buffers(to_text(plan));
    };
    if (!after_each_pass_) return plan_heading(planned.scenario.name, step, buffers_) + shown(step);
    std::string text;
    for (const PassSnapshot& snapshot : snapshots)
      text += "# after " + snapshot.pass + "\n" + shown(snapshot.plan) + "\n";
    return text;
  }

  Json document(const PlannedScenario& planned, const StepPlan& step,
                const std::vector<PassSnapshot>& snapshots) const {
    if (!after_each_pass_) return plan_document(planned, step, rank_);
    Json passes = Json::array();
    for (const PassSnapshot& snapshot : snapshots) {
      passes.push_back({{"pass", snapshot.pass}, {"plan", plan_document(planned, snapshot.plan, rank_)}});
    }
    return {{"passes", std::move(passes)}};
  }

  Result<int> print_explanation(Console& console, const ScenarioSource& source,
                                const PlannedScenario& planned, const StepPlan& step) const {
    SHARDLAB_TRY(const std::vector<InstructionId> found, find_instructions(step, explain_));
    const ExplainedInstruction explained{planned, source, step, found.front(), rank_};
    if (console.json()) {
      Json explanation = explanation_json(explained);
      explanation["others"] = Json::array();
      for (std::size_t i = 1; i < found.size(); ++i) explanation["others"].push_back(found[i].value);
      console.print_json({{"explanation", std::move(explanation)}});
    } else {
      console.print(explain_instruction(explained) + other_matches(step, found));
    }
    return k_exit_good;
  }

  Result<int> print_diff(CommandContext& context, const StepPlan& step) const {
    SHARDLAB_TRY(const Scenario scenario, read_scenario(diff_, context.options.overrides));
    SHARDLAB_TRY(const PlannedScenario other, plan_scenario(scenario));
    SHARDLAB_TRY(const StepPlan* other_step, select_step(other.plan, step_));
    const std::string difference = diff_plans(step, *other_step);
    const bool equal = plan_hash(step) == plan_hash(*other_step);
    if (context.console.json()) {
      context.console.print_json({{"equal", equal},
                                  {"plan_hash", plan_hash(step)},
                                  {"other_plan_hash", plan_hash(*other_step)},
                                  {"difference", difference}});
    } else {
      context.console.print(equal ? "the plans are equal\n" : difference);
    }
    return equal ? k_exit_good : k_exit_verdict_not_met;
  }

  std::string scenario_;
  std::string step_ = "steady";
  std::string explain_;
  std::string diff_;
  int rank_ = 0;
  bool units_ = false;
  bool buffers_ = false;
  bool after_each_pass_ = false;
  bool dot_ = false;
};

}  // namespace

std::unique_ptr<Command> make_plan_command() {
  return std::make_unique<PlanCommand>();
}

}  // namespace shardlab

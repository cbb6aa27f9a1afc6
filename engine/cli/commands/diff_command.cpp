#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/cli/command.h"
#include "engine/cli/compare/compare_sides.h"
#include "engine/cli/difference_json.h"
#include "engine/report/json.h"
#include "engine/report/run_difference.h"
#include "engine/report/tables.h"
#include "engine/store/judged_pair.h"

namespace shardlab {
namespace {

// What a prediction and a measurement do not have in common, where that is why they are not judged.
std::string_view not_of_one(const Compared& compared) {
  const RunRecord &one = compared.first.run, &other = compared.second.run;
  if (compared.judged || one.summary.kind == other.summary.kind) return {};
  if (!compared.same_plan) return "plans";
  return machines_agree(one.machine, other.machine) ? std::string_view() : "machines";
}

class DiffCommand final : public Command {
 public:
  std::string_view name() const override { return "diff"; }
  std::string_view help() const override {
    return "Two runs or scenarios side by side, whatever their plans";
  }
  std::string_view details() const override {
    return "RUN is r12, 12, last, the name of a scenario (its newest run), or the file of a scenario, which "
           "is predicted.\n"
           "--set is for the second: shardlab diff S S --set train.micro_batch=4\n"
           "A prediction and a measurement of one plan on one machine are judged by the scenario's "
           "tolerances; exits 1 when one is not met, 5 when the measured times are not judged: other "
           "programs used the processors meanwhile.\n"
           "For the plans of two scenarios: shardlab plan S --diff S2";
  }
  CommonUse uses() const override { return {.database = true, .overrides = true}; }

  void add_options(OptionParser& parser) override {
    parser.value("first", first_, "First run").type("RUN|FILE").required();
    parser.value("second", second_, "Second run").type("RUN|FILE").required();
  }

  Result<int> run(CommandContext& context) override {
    const CommonOptions& options = context.options;
    SHARDLAB_TRY(ComparedSide first, compared_side(first_, options, {}));
    SHARDLAB_TRY(ComparedSide second, compared_side(second_, options, options.overrides));
    SHARDLAB_TRY(const Compared compared, compare_sides(std::move(first), std::move(second)));
    SHARDLAB_TRY(const Differences differences,
                 setting_differences(scenario_text(compared.first), scenario_text(compared.second)));
    if (context.console.json()) {
      context.console.print_json(document(compared, differences));
    } else {
      context.console.print(text(compared, differences, context.console.style()));
    }
    if (compared.comparison.verdict == Verdict::fail) return k_exit_verdict_not_met;
    return compared.comparison.times_not_judged.empty() ? k_exit_good : k_exit_not_judged;
  }

 private:
  using Differences = std::vector<SettingDifference>;

  static AlternativeRun alternative(const RunRecord& run) {
    return {run.summary, run.trace, run.plan.steady};
  }

  static Json document(const Compared& compared, const Differences& differences) {
    const RunRecord &first = compared.first.run, &second = compared.second.run;
    Json json = comparison_json(compared.comparison, run_json(first.summary, compared.first.id),
                                run_json(second.summary, compared.second.id));
    json["same_plan"] = compared.same_plan;
    json["differs_in"] = settings_json(differences);
    json["difference"] = difference_json(difference_of(alternative(first), alternative(second)));
    return json;
  }

  static std::string heading(std::string_view which, const ComparedSide& side) {
    const std::string machine = side.run.machine.empty() ? "" : ", " + side.run.machine;
    return fmt::format("{:<7} {}{}, {}, {}{}, plan {:.12}\n", which, side.id ? to_string(*side.id) + " " : "",
                       side.run.name, to_string(side.run.summary.kind), side.run.plan.steady.strategy,
                       machine, side.run.summary.plan_hash);
  }

  // Runs are known by their scenario and by what differs between the two.
  static std::string headings(const Compared& compared, const Differences& differences) {
    std::string text = heading("first", compared.first) + heading("second", compared.second);
    std::string_view title = "differ";
    for (const SettingDifference& each : differences) {
      const auto shown = [](const std::string& value) { return value.empty() ? "(nothing)" : value; };
      text += fmt::format("{:<7} {} {} / {}\n", std::exchange(title, ""), each.key, shown(each.first),
                          shown(each.second));
    }
    if (const std::string_view what = not_of_one(compared); !what.empty())
      text += fmt::format("not judged: a prediction and a measurement of different {}\n", what);
    return text + '\n';
  }

  static std::string text(const Compared& compared, const Differences& differences, const TextStyle& style) {
    const RunRecord &first = compared.first.run, &second = compared.second.run;
    std::string text = headings(compared, differences);
    if (compared.judged) return text + comparison_table(compared.comparison, style, &first.plan.steady);
    std::string one = short_name(compared.first), other = short_name(compared.second);
    if (one == other) one = "first", other = "second";
    text += difference_table(difference_of(alternative(first), alternative(second)), one, other, style);
    if (compared.same_plan) text += instruction_differences(compared.comparison, style, &first.plan.steady);
    return text;
  }

  std::string first_, second_;
};

}  // namespace

std::unique_ptr<Command> make_diff_command() {
  return std::make_unique<DiffCommand>();
}

}  // namespace shardlab

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/cli/command.h"
#include "engine/cli/stored_runs.h"
#include "engine/report/run_residuals.h"
#include "engine/store/judged_pair.h"

namespace shardlab {
namespace {

// The newest prediction of the measured run's plan on its machine that its times can be held against.
std::optional<RunId> prediction_of(const RunEntry& measured, const std::vector<RunEntry>& predicted) {
  const auto found = std::find_if(predicted.begin(), predicted.end(), [&](const RunEntry& one) {
    return one.plan_hash == measured.plan_hash && machines_agree(one.machine, measured.machine);
  });
  return found == predicted.end() ? std::nullopt : std::optional(found->id);
}

class ResidualsCommand final : public Command {
 public:
  std::string_view name() const override { return "residuals"; }
  std::string_view help() const override {
    return "How far predictions were from stored runs, by kind of instruction and by operator";
  }
  std::string_view details() const override {
    return "Every measured run that finished, with the newest stored prediction of its plan on its machine "
           "(`validate` stores both). Runs whose times are not judged are left out, and said.";
  }
  CommonUse uses() const override { return {.database = true}; }

  void add_options(OptionParser& parser) override {
    parser.value("--name", filter_.name, "Of the scenario");
    parser.value("--tag", filter_.tag, "Measured runs that carry this tag");
    parser.value("--limit", filter_.limit, "The newest so many measured runs; 0: all").not_negative();
    parser.flag("--all", all_, "Also runs whose times were not judged: other programs used the processors");
    parser.value("--most", most_, "So many rows of a table [12]").not_negative();
  }

  Result<int> run(CommandContext& context) override {
    SHARDLAB_TRY(const RunStore store, open_runs(context.options));
    filter_.kind = RunKind::measured;
    SHARDLAB_TRY(const std::vector<RunEntry> measured, store.list(filter_));
    SHARDLAB_TRY(const std::vector<RunEntry> predicted, store.list({.kind = RunKind::predicted}));
    ResidualCollector collector;
    for (const RunEntry& entry : measured) SHARDLAB_CHECK_OK(collect(store, entry, predicted, collector));
    const Residuals residuals = collector.residuals();
    if (residuals.pairs.empty()) return nothing();
    if (left_out_ > 0)
      context.console.note(
          fmt::format("measured runs that are left out: {}, whose times were not judged", left_out_));
    if (context.console.json())
      context.console.print_json(residuals_json(residuals));
    else
      context.console.print(
          residual_tables(residuals, static_cast<std::size_t>(most_), context.console.style()));
    return k_exit_good;
  }

 private:
  tl::unexpected<Error> nothing() const {
    if (left_out_ > 0)
      return not_possible("residuals",
                          fmt::format("the times of all measured runs ({}) were not judged: other programs "
                                      "used the processors",
                                      left_out_),
                          "--all counts them; or measure again while nothing else runs");
    return not_possible("residuals", "no measured run has a prediction of its plan on its machine beside it",
                        "`shardlab validate SCENARIO` stores both");
  }

  Status collect(const RunStore& store, const RunEntry& entry, const std::vector<RunEntry>& predicted,
                 ResidualCollector& collector) {
    const std::optional<RunId> prediction = prediction_of(entry, predicted);
    if (!prediction || entry.step_time.value == 0) return {};
    SHARDLAB_TRY(const RunRecord ours, store.load(*prediction));
    SHARDLAB_TRY(const RunRecord theirs, store.load(entry.id));
    if (!is_judged_pair(ours, theirs)) return {};
    if (!all_ && !reason_not_to_judge_times(ours, theirs).empty()) {
      ++left_out_;
      return {};
    }
    collector.add(theirs.name, theirs.plan.steady, {*prediction, ours.summary, ours.trace},
                  {entry.id, theirs.summary, theirs.trace});
    return {};
  }

  RunFilter filter_{.kind = {}, .name = {}, .tag = {}, .plan_hash = {}, .limit = 0};
  int most_ = 12;
  bool all_ = false;
  int left_out_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_residuals_command() {
  return std::make_unique<ResidualsCommand>();
}

}  // namespace shardlab

#include <nlohmann/json.hpp>

#include "engine/cli/command.h"
#include "engine/cli/compare/compare_sides.h"
#include "engine/cli/stored_runs.h"
#include "engine/plan/imported_plan.h"
#include "engine/report/json.h"
#include "engine/report/rank_waits_table.h"
#include "engine/report/tables.h"
#include "engine/report/words/alive_at_peak.h"
#include "engine/scenario/read_scenario.h"
#include "engine/trace/figure_rows.h"

namespace shardlab {
namespace {

class ShowCommand final : public Command {
 public:
  std::string_view name() const override { return "show"; }
  std::string_view help() const override { return "One stored run"; }
  std::string_view details() const override {
    return "RUN is r12, 12, last, or the name of a scenario (its newest run).";
  }
  CommonUse uses() const override { return {.database = true}; }

  void add_options(OptionParser& parser) override {
    parser.value("run", run_, "Which run").type("RUN");
    parser.flag("--peak", peak_, "Also what is alive at the peak, in words");
    parser.flag("--ranks", ranks_, "Also which ranks the others wait for");
    parser.flag("--scenario", scenario_, "Print its scenario, complete enough to run it again");
    parser.value("--add-tag", added_tags_, "Tag the run; may be repeated").repeatable();
    parser.value("--remove-tag", removed_tags_, "Take a tag off; may be repeated").repeatable();
    parser.flag("--document", document_, "Print the reference of a run's figures, in Markdown");
    note_option_ = parser.value("--note", note_, "Replace the note of the run");
  }

  Result<int> run(CommandContext& context) override {
    if (document_) return print_reference(context.console);
    if (run_.empty()) return bad_input("shardlab show", "run is required", "or --document");
    SHARDLAB_TRY(RunStore store, open_runs(context.options));
    SHARDLAB_TRY(const RunId id, store.find(run_));
    SHARDLAB_CHECK_OK(annotate(store, id));
    if (scenario_) return print_scenario(context.console, store, id);
    return print_run(context, store, id);
  }

 private:
  Status annotate(RunStore& store, RunId id) const {
    for (const std::string& tag : added_tags_) SHARDLAB_CHECK_OK(store.add_tag(id, tag));
    for (const std::string& tag : removed_tags_) SHARDLAB_CHECK_OK(store.remove_tag(id, tag));
    if (note_option_.given()) SHARDLAB_CHECK_OK(store.set_note(id, note_));
    return {};
  }

  static Result<int> print_reference(Console& console) {
    if (console.json())
      console.print_json({{"reference", figure_reference()}});
    else
      console.print(figure_reference());
    return k_exit_good;
  }

  static Result<int> print_scenario(Console& console, const RunStore& store, RunId id) {
    SHARDLAB_TRY(const RunRecord record, store.load(id));
    console.print(record.scenario_yaml);
    if (console.json()) console.print_json({{"run_id", to_string(id)}, {"scenario", record.scenario_yaml}});
    return k_exit_good;
  }

  Result<int> print_run(CommandContext& context, const RunStore& store, RunId id) const {
    Console& console = context.console;
    SHARDLAB_TRY(const RunEntry entry, store.entry(id));
    SHARDLAB_TRY(const RunSummary summary, store.load_summary(id));
    if (peak_ && !summary.memory) return bad_input("--peak", to_string(id) + " recorded no memory");
    if (peak_ && summary.memory->peak_label.empty())
      return bad_input("--peak", to_string(id) + " is of a log, which tells how high the peak is, not when");
    SHARDLAB_TRY(const RunPlan plan, store.load_plan(id));
    const StepPlan& at_peak = plan_at_peak(plan, summary);
    std::vector<RankWait> waits;
    if (ranks_) {
      SHARDLAB_TRY(waits, waits_of(store, id));
    }
    const std::optional<Comparison> beside = beside_prediction(context, store, id, summary);
    if (console.json()) {
      Json document = run_json(summary, id);
      if (beside) document["beside_prediction"] = beside_json(*beside);
      if (peak_) document["alive_at_peak"] = alive_json(at_peak, *summary.memory);
      if (ranks_) document["rank_waits"] = rank_waits_json(waits);
      document["entry"] = entry_json(entry);
      console.print_json(document);
      return k_exit_good;
    }
    console.print(history_table({&entry, 1}, console.style()) + "\n" +
                  summary_table(summary, console.style(), &at_peak));
    if (beside) console.print("\nbeside its prediction\n\n" + comparison_table(*beside, console.style()));
    if (peak_) console.print("\n" + alive_table(at_peak, *summary.memory, console.style()));
    if (ranks_) console.print("\n" + rank_table(waits, console.style()));
    if (!entry.note.empty()) console.print("\nnote: " + entry.note + "\n");
    return k_exit_good;
  }

  // What is known of both, for a log that was imported onto a scenario. Why not, where that cannot be
  // predicted (any more), is a note.
  static std::optional<Comparison> beside_prediction(CommandContext& context, const RunStore& store, RunId id,
                                                     const RunSummary& summary) {
    const bool knows_its_peak = summary.memory && !summary.memory->peak_label.empty();  // no log does
    if (summary.kind != RunKind::measured || summary.ended_by || knows_its_peak) return std::nullopt;
    auto run = store.load(id);
    if (!run || !run->trace.steps.empty() || is_imported(run->plan.steady)) return std::nullopt;
    auto prediction = prediction_beside(*run, context.options);
    auto compared = prediction ? compare_sides(*std::move(prediction), {id, *std::move(run)})
                               : Result<Compared>(fail(std::move(prediction).error()));
    if (!compared) {
      context.console.note("no prediction beside it: " + to_string(compared.error()));
      return std::nullopt;
    }
    std::erase_if(compared->comparison.metrics,
                  [](const Metric& each) { return !each.predicted || !each.measured; });
    return compared->comparison;
  }

  static Json beside_json(const Comparison& comparison) {
    const Json all = comparison_json(comparison, {}, {});
    return {{"metrics", all["metrics"]},
            {"verdict", all["verdict"]},
            {"times_not_judged", all["times_not_judged"]}};
  }

  static Result<std::vector<RankWait>> waits_of(const RunStore& store, RunId id) {
    SHARDLAB_TRY(const RunRecord record, store.load(id));
    if (is_imported(record.plan.steady) || record.trace.steps.empty())
      return bad_input("--ranks",
                       to_string(id) + " was imported, or ended early: who meets whom is not known");
    SHARDLAB_TRY(const ReadScenario read, parse_scenario_with_source(record.scenario_yaml, record.name));
    std::vector<RankWait> waits = rank_waits(record.plan.steady, read.scenario, record.trace.steps);
    if (!waits.empty()) return waits;
    return bad_input("--ranks", to_string(id) + " holds one rank that stands for all",
                     "predict with `shardlab simulate --ranks all`");
  }

  std::string run_;
  bool peak_ = false;
  bool ranks_ = false;
  bool scenario_ = false;
  bool document_ = false;
  std::vector<std::string> added_tags_, removed_tags_;
  std::string note_;
  OptionHandle note_option_;
};

}  // namespace

std::unique_ptr<Command> make_show_command() {
  return std::make_unique<ShowCommand>();
}

}  // namespace shardlab

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/input_file.h"
#include "engine/base/nearest.h"
#include "engine/base/output_file.h"
#include "engine/base/paths.h"
#include "engine/cli/command.h"
#include "engine/cli/predict.h"
#include "engine/cli/progress_line.h"
#include "engine/cli/stored_runs.h"
#include "engine/report/backtest_report.h"
#include "simulator/backtest/ranking_report.h"
#include "simulator/backtest/residuals.h"
#include "simulator/backtest/run_backtest.h"
#include "simulator/backtest/scenario_of_row.h"

namespace shardlab {
namespace {

constexpr const char* k_shipped_table = "backtest/published_runs.csv";

const SourceRule& rule_called(const std::vector<SourceRule>& rules, const std::string& name) {
  return *std::find_if(rules.begin(), rules.end(), [&](const SourceRule& rule) { return rule.name == name; });
}

// What a row became, so that it can be simulated: the scenario, below comments that say why.
std::string row_text(const PublishedRun& run, const RowScenario& row, const std::vector<SourceRule>& rules) {
  std::string text = fmt::format("# {}: {}\n# by these rules:\n", run.cell("source_repo_or_paper"),
                                 run.cell("source_file_or_table"));
  for (const std::string& name : row.rules) {
    const SourceRule& rule = rule_called(rules, name);
    text += fmt::format("#   {}: {} ({})\n", name, rule.because, rule.source);
  }
  for (const std::string& nearest : row.nearest) text += "# the nearest to that run: " + nearest + "\n";
  if (!row.reason.empty()) text += "# not expressible: " + row.reason + "\n";
  return text + row.yaml;
}

class BacktestCommand final : public Command {
 public:
  std::string_view name() const override { return "backtest"; }
  std::string_view help() const override { return "Predictions beside runs that others have published"; }
  std::string_view details() const override {
    return "CSV has the columns of assets/backtest/published_runs.csv, which is taken without it. What a "
           "row\n"
           "means as a scenario is said by the rules beside that file (docs/backtest.md).";
  }
  CommonUse uses() const override { return {.database = true, .overrides = true}; }

  void add_options(OptionParser& parser) override {
    table_given_ = parser.value("table", table_, "Published runs").type("CSV");
    parser.value("--metric", metric_, "memory or time [memory]").type("METRIC");
    parser.flag("--leave-one-source-out", leave_one_out_,
                "Bands that hold 80 % of the published figures, from the errors of the other sources");
    parser.value("--band", band_, "Bands that hold so many percent instead of 80").type("PERCENT").positive();
    parser.flag("--ranking", ranking_,
                "Of time: whether predictions put runs in their order, and what one knob buys");
    parser
        .value("--residuals", residuals_,
               "Of time: also write how far off the predictions were, as assets/residuals/step_time.yaml")
        .type("FILE");
    parser.value("--row", row_, "Only print the scenario that this row becomes").type("ID");
    parser.value("--rules", rules_, "Folder of other rules").type("DIR");
    parser
        .value("--more-rules", more_rules_,
               "Folder of rules that have the last word, each about two rows or more")
        .type("DIR");
    parser.flag("--all", all_, "Every row, not the ten worst");
    parser.flag("--last", last_, "Predict nothing, show the newest stored result of the metric");
    parser.flag("--no-store", no_store_, "Do not store the result");
    parser.flag("--no-calibration", no_calibration_,
                "Figures of data sheets, even where a GPU was calibrated");
  }

  Result<int> run(CommandContext& context) override {
    BacktestSettings settings;
    SHARDLAB_TRY(settings.metric, metric());
    if (last_ && !ranking_) return show_last(context, settings.metric);
    SHARDLAB_TRY(const PublishedTable table, read_table());
    if (last_) return rank_last(context, table);
    SHARDLAB_TRY(std::vector<SourceRule> rules, read_the_rules());
    if (!table_given_.given()) SHARDLAB_CHECK_OK(check_rules(rules, table));
    SHARDLAB_CHECK_OK(add_more_rules(table, rules));
    if (!row_.empty()) return print_row(context.console, table, rules, settings.metric);
    settings.settings = context.options.overrides;
    settings.leave_one_source_out = leave_one_out_ || band_ > 0;
    if (band_ > 0) settings.band_part = band_ / 100.0;
    if (settings.band_part >= 1)
      return bad_input("--band", "a band of all figures has no end", "for example --band 90");
    settings.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    if (!no_calibration_)
      settings.calibration_for = [&](const Scenario& scenario) {
        return find_calibration_if_any(context.options, scenario);
      };
    ProgressLine line(context.console);
    settings.progress = [&](int done, int of) { line.show(fmt::format("row {} of {}", done, of)); };
    const Backtest backtest = run_backtest(table, rules, settings);
    line.clear();
    std::optional<std::int64_t> id;
    if (!no_store_) {
      SHARDLAB_TRY(RunStore store, open_or_create_runs(context.options));
      SHARDLAB_TRY(id, store.save_backtest(backtest));
    }
    if (!residuals_.empty()) SHARDLAB_CHECK_OK(write_residuals(table, backtest));
    if (ranking_) return show_ranking(context.console, rank_published(table, backtest));
    show(context.console, backtest, id);
    return k_exit_good;
  }

 private:
  Result<BacktestMetric> metric() const {
    if (ranking_ || !residuals_.empty()) return BacktestMetric::time;
    if (const auto metric = parse_word<BacktestMetric>(metric_)) return *metric;
    return bad_input("--metric", "unknown metric '" + metric_ + "'",
                     fmt::format("known: {}", fmt::join(all_words<BacktestMetric>(), ", ")));
  }

  Result<PublishedTable> read_table() const {
    std::filesystem::path file = table_;
    if (!table_given_.given()) {
      SHARDLAB_TRY(file, find_asset(k_shipped_table));
    }
    SHARDLAB_TRY(const std::string text, read_input_file(file, k_table_file));
    return read_published(text, table_given_.given() ? table_ : std::string("assets/") + k_shipped_table);
  }

  Result<std::vector<SourceRule>> read_the_rules() const {
    if (!rules_.empty()) return read_rules(rules_);
    SHARDLAB_TRY(const std::filesystem::path folder, find_asset("backtest"));
    return read_rules(folder);
  }

  Status add_more_rules(const PublishedTable& table, std::vector<SourceRule>& rules) const {
    if (more_rules_.empty()) return {};
    SHARDLAB_TRY(std::vector<SourceRule> more, read_rules(more_rules_));
    SHARDLAB_CHECK_OK(check_rules(more, table));
    rules.insert(rules.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    return {};
  }

  Result<int> print_row(Console& console, const PublishedTable& table, const std::vector<SourceRule>& rules,
                        BacktestMetric metric) const {
    const PublishedRun* run = table.find(row_);
    if (run == nullptr)
      return bad_input("--row", "no row of " + table.name + " is called '" + row_ + "'", near_rows(table));
    const RowScenario row = scenario_of_row(*run, rules, metric);
    if (console.json())
      console.print_json({{"id", row_},
                          {"expressible", row.reason.empty()},
                          {"reason", row.reason},
                          {"nearest", row.nearest},
                          {"rules", row.rules},
                          {"scenario", row.reason.empty() ? Json(row.yaml) : Json(nullptr)}});
    else
      console.print(row_text(*run, row, rules));
    return k_exit_good;
  }

  std::string near_rows(const PublishedTable& table) const {
    std::vector<std::string> ids;
    for (const PublishedRun& run : table.runs) ids.push_back(run.cell("id"));
    const auto near = nearest_name(row_, ids);
    return near ? "did you mean '" + *near + "'?" : "'--all' and '--json' show the names of rows";
  }

  Status write_residuals(const PublishedTable& table, const Backtest& backtest) const {
    return write_output_file(residuals_, residuals_text(table, backtest));
  }

  static Result<BacktestEntry> last(CommandContext& context, BacktestMetric metric) {
    SHARDLAB_TRY(const RunStore store, open_runs(context.options));
    SHARDLAB_TRY(std::optional<BacktestEntry> entry, store.latest_backtest(metric));
    if (!entry)
      return bad_input(in_file(store.path().string()),
                       fmt::format("holds no backtest of {}", to_string(metric)),
                       fmt::format("shardlab backtest --metric {} makes one", to_string(metric)));
    return *std::move(entry);
  }

  Result<int> show_last(CommandContext& context, BacktestMetric metric) const {
    SHARDLAB_TRY(BacktestEntry entry, last(context, metric));
    add_up(entry.backtest);
    show(context.console, entry.backtest, entry.id);
    return k_exit_good;
  }

  static Result<int> rank_last(CommandContext& context, const PublishedTable& table) {
    SHARDLAB_TRY(const BacktestEntry entry, last(context, BacktestMetric::time));
    return show_ranking(context.console, rank_published(table, entry.backtest));
  }

  static Result<int> show_ranking(Console& console, const Ranking& ranking) {
    if (console.json())
      console.print_json(ranking_json(ranking));
    else
      console.print(ranking_text(ranking, console.style()));
    return k_exit_good;
  }

  void show(Console& console, const Backtest& backtest, std::optional<std::int64_t> id) const {
    if (console.json()) {
      Json document = {{"backtest_id", id ? Json(*id) : Json(nullptr)}};
      document.update(backtest_json(backtest));
      console.print_json(document);
      return;
    }
    console.print(backtest_table(backtest, all_, console.style()));
    if (id) console.print(fmt::format("\nstored as backtest {}\n", *id));
  }

  std::string table_, metric_ = "memory", row_, rules_, more_rules_, residuals_;
  int band_ = 0;  // percent; 0: the default's
  bool leave_one_out_ = false;
  bool all_ = false;
  bool last_ = false;
  bool ranking_ = false;
  bool no_store_ = false;
  bool no_calibration_ = false;
  OptionHandle table_given_;
};

}  // namespace

std::unique_ptr<Command> make_backtest_command() {
  return std::make_unique<BacktestCommand>();
}

}  // namespace shardlab

#include "gui/view_model/search/search_table.h"

#include <fmt/format.h>

#include "engine/report/figures.h"
#include "engine/scenario/read_scenario.h"
#include "simulator/search/report/search_words.h"

namespace shardlab::view {
namespace {

Cell number_cell(std::string text, std::optional<double> number) {
  return {std::move(text), number};
}

Column number_column(std::string title, std::string unit, std::string formula) {
  Column column;
  column.title = std::move(title);
  column.unit = std::move(unit);
  column.meaning.formula = std::move(formula);
  return column;
}

std::vector<Column> columns_of(const SearchQuestion& question) {
  const bool has_tokens = question.training.tokens.has_value();
  std::vector<Column> columns = {
      number_column(
          "time", has_tokens ? "hours" : "s",
          "the steps for the tokens, with evaluation, checkpoints and failures where they are given"),
      number_column("money", "$", "hours times nodes times their price, and energy where it has one"),
      number_column("memory", "bytes", "the most that a rank's device holds, as simulate predicts it"),
      number_column("fits", "%",
                    "how likely the steps run: errors of earlier predictions, range of the libraries"),
      number_column("GPUs", "", "as rented"),
      number_column("step", "ns", "as simulate predicts it")};
  for (const Knob& knob : question.knobs) columns.push_back({knob.key, "", false, {}});
  columns.push_back({"misses", "", false, {}});
  return columns;
}

Row row_of(const SearchOutcome& outcome, std::size_t at) {
  const Candidate& candidate = outcome.result.simulated[at];
  const PredictedFigures& figures = candidate.figures;
  Row row;
  row.key = static_cast<std::int64_t>(at);
  row.cells = {number_cell(time_words(candidate), candidate.costs.time),
               number_cell(candidate.costs.money ? money_words(candidate) : "-", candidate.costs.money),
               bytes_cell(figures.memory()),
               number_cell(fit_cell(figures), figures.fit_probability),
               count_cell(candidate.configuration.gpus),
               time_cell(figures.step_time)};
  for (std::size_t i = 0; i < outcome.question.knobs.size(); ++i)
    row.cells.push_back(
        text_cell(outcome.question.knobs[i].choices[candidate.configuration.choices[i]].shown));
  row.cells.push_back(candidate.satisfies() ? text_cell("")
                                            : text_cell(candidate.misses.front().text, CellTone::bad));
  return row;
}

}  // namespace

DataTable search_table(const SearchOutcome& outcome, const std::vector<std::uint32_t>& passing) {
  DataTable table;
  table.name = "search";
  table.columns = columns_of(outcome.question);
  table.rows.reserve(passing.size());
  for (const std::uint32_t at : passing) table.rows.push_back(row_of(outcome, at));
  return table;
}

Result<FoundScenario> scenario_of(const SearchOutcome& outcome, std::size_t simulated) {
  const BaseScenario& base = outcome.question.base;
  const std::vector<std::string>& settings = outcome.result.simulated[simulated].configuration.settings;
  std::vector<std::string> overrides = base.overrides;
  overrides.insert(overrides.end(), settings.begin(), settings.end());
  SHARDLAB_TRY(const Scenario scenario, parse_scenario(base.text, base.file, overrides));
  const std::filesystem::path file = base.file;
  return FoundScenario{write_scenario(scenario), file.parent_path() / (file.stem().string() + "-found.yaml")};
}

std::string progress_text(const SearchProgress& progress) {
  return fmt::format("{} of {} combinations, {} simulated", grouped(static_cast<std::int64_t>(progress.done)),
                     grouped(static_cast<std::int64_t>(progress.total)), grouped(progress.simulated));
}

std::vector<std::string> answer_lines(const SearchOutcome& outcome) {
  std::vector<std::string> lines;
  for (const Leader& leader : outcome.result.answers) {
    std::string line = fmt::format("best for {}: {}", order_words(leader.order), time_words(*leader.best));
    if (leader.best->costs.money) line += ", " + money_words(*leader.best);
    lines.push_back(line + ", " + gpus_words(*leader.best));
  }
  return lines;
}

}  // namespace shardlab::view

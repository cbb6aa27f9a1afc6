#include <fmt/format.h>

#include "engine/report/figures.h"
#include "engine/report/tables.h"
#include "engine/report/text_table.h"
#include "engine/report/words/plan_words.h"

namespace shardlab {

namespace {

struct Titles {
  std::string first;
  std::string second;
};

// Two runs of one kind are told apart by their order.
Titles titles_of(const Comparison& comparison) {
  if (comparison.first_kind == comparison.second_kind) return {"first", "second"};
  return {std::string(to_string(comparison.first_kind)), std::string(to_string(comparison.second_kind))};
}

Tone tone_of(Verdict verdict) {
  if (verdict == Verdict::not_judged) return Tone::plain;
  return verdict == Verdict::pass ? Tone::good : Tone::bad;
}

// Nobody asked for a verdict where there is no tolerance.
TableCell verdict_cell(const Metric& metric) {
  if (!metric.tolerance) return "";
  return {std::string(to_string(metric.verdict)), tone_of(metric.verdict)};
}

std::string metrics_part(const Comparison& comparison, const Titles& titles, const TextStyle& style) {
  TextTable table({{"", Align::left, true},
                   {titles.first},
                   {titles.second},
                   {"error"},
                   {"tolerance"},
                   {"verdict", Align::left}});
  for (const Metric& metric : comparison.metrics) {
    table.add({metric.name, metric_figure(metric.name, metric.predicted, metric.unit),
               metric_figure(metric.name, metric.measured, metric.unit),
               metric.error ? signed_percent(*metric.error) : "-",
               metric.tolerance ? percent(*metric.tolerance) : "", verdict_cell(metric)});
  }
  return table.text(style);
}

// In words where the plan is known, with the name that the plan's text form has.
std::string instructions_part(const Comparison& comparison, const Titles& titles, const TextStyle& style,
                              const StepPlan* plan) {
  if (comparison.instructions.empty()) return "";
  const std::optional<PlanWords> words = plan == nullptr ? std::nullopt : std::optional<PlanWords>(*plan);
  std::vector<TableColumn> columns = {{"largest differences", Align::left, true}};
  if (words) columns.push_back({"in words", Align::left, true, 12, 1});
  for (const std::string& title :
       {titles.first, titles.second, std::string("difference"), std::string("of step")})
    columns.push_back({title});
  TextTable table(std::move(columns));
  for (const InstructionDifference& row : comparison.instructions) {
    const std::string sign = row.difference().value > 0 ? "+" : "";
    std::vector<TableCell> cells = {row.label};
    if (words) cells.emplace_back(words->instruction(row.instruction));
    for (const std::string& text : {to_string(row.predicted), to_string(row.measured),
                                    sign + to_string(row.difference()), percent(row.share)})
      cells.emplace_back(text);
    table.add(std::move(cells));
  }
  return "\n" + table.text(style);
}

// Workspace is unpredicted only where something was predicted.
std::string memory_part(const Comparison& comparison, bool judged) {
  std::string text;
  if (comparison.memory) {
    const MemoryDifference& memory = *comparison.memory;
    text += fmt::format("\nlive bytes after each instruction: {} of {} equal to the byte\n",
                        grouped(memory.equal), grouped(memory.borders));
    if (memory.equal != memory.borders) {
      text += fmt::format("  largest difference {} after {}: {} against {}\n", percent(memory.largest),
                          memory.label, to_string(memory.predicted), to_string(memory.measured));
    }
  }
  if (judged && comparison.workspace) {
    const UnpredictedWorkspace& workspace = *comparison.workspace;
    text += fmt::format("unpredicted workspace of libraries: {}", to_string(workspace.bytes));
    text += workspace.bytes.value > 0 ? fmt::format(" in {}\n", workspace.label) : "\n";
  }
  return text;
}

std::string verdict_part(const Comparison& comparison, const TextStyle& style) {
  if (comparison.verdict == Verdict::not_judged && comparison.times_not_judged.empty()) return "";
  const std::string verdict =
      painted(std::string(to_string(comparison.verdict)), tone_of(comparison.verdict), style);
  if (comparison.times_not_judged.empty()) return "\nverdict: " + verdict + '\n';
  return fmt::format("\ntime not judged: {}\nverdict: {}\n", comparison.times_not_judged, verdict);
}

}  // namespace

std::string comparison_table(const Comparison& comparison, const TextStyle& style, const StepPlan* plan) {
  const Titles titles = titles_of(comparison);
  return metrics_part(comparison, titles, style) + instructions_part(comparison, titles, style, plan) +
         memory_part(comparison, true) + verdict_part(comparison, style);
}

std::string instruction_differences(const Comparison& comparison, const TextStyle& style,
                                    const StepPlan* plan) {
  return instructions_part(comparison, {"first", "second"}, style, plan) + memory_part(comparison, false);
}

}  // namespace shardlab

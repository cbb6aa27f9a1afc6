#include "gui/view_model/exports/export_view.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/base/text/printable.h"
#include "engine/report/figures.h"

namespace shardlab::view {
namespace {

double ratio_of(Nanoseconds to, Nanoseconds from) {
  return static_cast<double>(to.value) / static_cast<double>(from.value) - 1;
}
double ratio_of(Bytes to, Bytes from) {
  return static_cast<double>(to.value) / static_cast<double>(from.value) - 1;
}

std::string effect_words(const PredictedStep& scenario, const PredictedStep& with) {
  if (with.step_time == scenario.step_time && with.peak_allocated == scenario.peak_allocated)
    return "neither step nor peak change";
  return fmt::format("step {} ({}), peak {} ({})", to_string(with.step_time),
                     signed_percent(ratio_of(with.step_time, scenario.step_time)),
                     to_string(with.peak_allocated),
                     signed_percent(ratio_of(with.peak_allocated, scenario.peak_allocated)));
}

std::string effect_of(const MadeExport& made, std::size_t difference) {
  if (!made.scenario || difference >= made.alone.size()) return {};
  if (!made.alone[difference]) return "not predicted";
  return effect_words(*made.scenario, *made.alone[difference]);
}

DifferenceLine line_of(const MadeExport& made, std::size_t index) {
  const ExportDifference& difference = made.differences[index];
  const bool is_elsewhere = difference.kind == DifferenceKind::elsewhere;
  DifferenceLine line;
  line.setting = printable(difference.setting);
  line.change = printable(is_elsewhere ? difference.instead
                                       : fmt::format("{} -> {}", difference.scenario, difference.instead));
  if (!is_elsewhere) line.effect = effect_of(made, index);
  line.why = printable(difference.why);
  line.identity = {std::string(made.target->name), difference.setting, difference.scenario,
                   difference.instead};
  return line;
}

Cell fits_cell(const PredictedStep& step) {
  if (!step.fits) return text_cell("-");
  const CellTone tone = *step.fits == Fit::yes  ? CellTone::good
                        : *step.fits == Fit::no ? CellTone::bad
                                                : CellTone::fair;
  return text_cell(std::string(to_string(*step.fits)), tone);
}

template <typename Figure>
Cell change_cell(const PredictedStep& step, const PredictedStep* before, Figure figure) {
  if (before == nullptr) return text_cell("");
  const double change = ratio_of(step.*figure, before->*figure);
  return {signed_percent(change), change};
}

// `before` is null for the first row, which changes nothing.
Row step_row(std::string whose, const PredictedStep& step, const PredictedStep* before) {
  return {{text_cell(std::move(whose)), time_cell(step.step_time),
           change_cell(step, before, &PredictedStep::step_time), bytes_cell(step.peak_allocated),
           change_cell(step, before, &PredictedStep::peak_allocated), fits_cell(step)}};
}

DataTable step_table(const MadeExport& made) {
  static constexpr const char* k_share = "what the files run less the scenario's, over the scenario's";
  DataTable table;
  table.name = "export";
  table.columns = {{.title = "predicted of", .numeric = false},
                   {"step time", "ns", true, metric_meaning("step_time").value_or(Meaning{})},
                   {"change", "", true, {k_share, "the two predictions"}},
                   {"peak allocated", "bytes", true, metric_meaning("peak_allocated").value_or(Meaning{})},
                   {"change", "", true, {k_share, "the two predictions"}},
                   {.title = "fits", .numeric = false}};
  if (!made.scenario) return table;
  table.rows.push_back(step_row("the scenario", *made.scenario, nullptr));
  if (made.run && !overrides_of(made.differences).empty())
    table.rows.push_back(step_row("the files", *made.run, &*made.scenario));
  return table;
}

std::string prediction_words(const MadeExport& made) {
  if (!made.unpredictable.empty()) return printable("no prediction: " + made.unpredictable);
  std::vector<std::string> words;
  if (!made.unpredicted.empty())
    words.push_back(fmt::format("without {}, which cannot be predicted", fmt::join(made.unpredicted, ", ")));
  if (made.run) {
    if (std::string fit = fit_words(*made.run); !fit.empty()) words.push_back(std::move(fit));
  }
  return printable(fmt::format("{}", fmt::join(words, "; ")));
}

}  // namespace

ExportView view_export(const MadeExport& made) {
  ExportView view;
  for (std::size_t i = 0; i < made.differences.size(); ++i) {
    switch (made.differences[i].kind) {
      case DifferenceKind::lost: view.lost.push_back(line_of(made, i)); break;
      case DifferenceKind::added: view.added.push_back(line_of(made, i)); break;
      case DifferenceKind::elsewhere: view.elsewhere.push_back(line_of(made, i)); break;
    }
  }
  view.steps = step_table(made);
  view.prediction = prediction_words(made);
  return view;
}

void AcceptedLosses::set(const DifferenceLine& loss, bool accepted) {
  if (accepted) {
    accepted_.insert(loss.identity);
  } else {
    accepted_.erase(loss.identity);
  }
}

std::size_t AcceptedLosses::missing(const std::vector<DifferenceLine>& lost) const {
  return static_cast<std::size_t>(
      std::count_if(lost.begin(), lost.end(), [&](const DifferenceLine& loss) { return !has(loss); }));
}

}  // namespace shardlab::view

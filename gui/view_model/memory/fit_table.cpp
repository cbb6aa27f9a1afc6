#include <algorithm>

#include "engine/base/with_spaces.h"
#include "gui/view_model/memory/fit_view.h"

namespace shardlab::view {
namespace {

const std::vector<std::string> k_settings_of_fit = {"train.micro_batch", "model.sequence_length",
                                                    "parallel.strategy", "activation.checkpoint"};

std::vector<Column> fit_columns(const FitView& view, bool with_phases) {
  const std::string trace = "the trace of the run, on the rank where the peak is highest";
  std::vector<Column> columns = {
      {.title = "class", .numeric = false},
      {.title = "at the peak",
       .unit = "bytes",
       .meaning = {"bytes of live tensors of this class when memory is highest", trace, k_settings_of_fit}},
      {.title = "share",
       .unit = "fraction",
       .meaning = {"bytes of the class divided by those of all classes, at the peak", trace,
                   k_settings_of_fit}}};
  if (!with_phases) return columns;
  for (const PhasePeak& phase : view.phases) {
    const std::string name(to_string(phase.phase));
    columns.push_back(
        {.title = name,
         .unit = "bytes",
         .meaning = {"bytes of live tensors of this class when memory is highest within " + name, trace,
                     k_settings_of_fit}});
  }
  return columns;
}

// The last row adds the others up; a share divides by it.
void explain_fit(const DataTable& table, std::size_t row, std::size_t column, const FitView& view, Why& why) {
  const std::size_t total = table.rows.size() - 1;
  if (column == 2) {
    why.arithmetic = Arithmetic::quotient;
    for (const std::size_t each : {row, total}) {
      const Cell& cell = table.rows[each].cells[1];
      why.parts.push_back({table.rows[each].cells[0].text, cell.text, {}, cell.number});
    }
    return;
  }
  if (row == total) {
    why.arithmetic = Arithmetic::sum;
    for (std::size_t i = 0; i < total; ++i) {
      const Cell& cell = table.rows[i].cells[column];
      why.parts.push_back({table.rows[i].cells[0].text, cell.text, {}, cell.number});
    }
  }
  if (column == 1) {
    why.parts.push_back({"highest in", view.peak_words, view.peak_instruction});
  } else if (const PhasePeak& phase = view.phases[column - 3]; phase.instruction) {
    why.parts.push_back({"highest in", phase.words, phase.instruction});
  }
}

}  // namespace

DataTable fit_table(const FitView& view, bool with_phases) {
  DataTable table;
  table.name = "fit";
  table.columns = fit_columns(view, with_phases);
  table.explain = [view](const DataTable& its, std::size_t row, std::size_t column, Why& why) {
    explain_fit(its, row, column, view, why);
  };
  const auto phase_cells = [&](Row& row, auto bytes_of) {
    if (!with_phases) return;
    for (const PhasePeak& phase : view.phases)
      row.cells.push_back(bytes_cell(phase.instruction ? std::optional(bytes_of(phase)) : std::nullopt));
  };
  for (const BufferClass buffer_class : view.classes) {
    const std::size_t i = static_cast<std::size_t>(buffer_class);
    Row row;
    row.key = static_cast<std::int64_t>(i);
    row.cells = {text_cell(with_spaces(to_string(buffer_class))), bytes_cell(view.by_class[i]),
                 share_cell(view.peak.value > 0 ? static_cast<double>(view.by_class[i].value) /
                                                      static_cast<double>(view.peak.value)
                                                : 0.0)};
    phase_cells(row, [&](const PhasePeak& phase) { return phase.by_class[i]; });
    table.rows.push_back(std::move(row));
  }
  Row total;
  total.key = -1;
  total.cells = {text_cell("all"), bytes_cell(view.peak), share_cell(1.0)};
  phase_cells(total, [](const PhasePeak& phase) { return phase.bytes; });
  table.rows.push_back(std::move(total));
  return table;
}

}  // namespace shardlab::view

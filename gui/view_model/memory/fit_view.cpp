#include "gui/view_model/fit_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "engine/trace/memory_timeline.h"

namespace shardlab::view {
namespace {

// Underscores are for keys.
std::string words(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

Bytes largest(const FitView& view, std::size_t buffer_class) {
  Bytes most = view.by_class[buffer_class];
  for (const PhasePeak& phase : view.phases) most = std::max(most, phase.by_class[buffer_class]);
  return most;
}

}  // namespace

std::optional<FitView> make_fit_view(const LoadedRun& run) {
  const std::optional<MemorySummary>& memory = run.record.summary.memory;
  const StepTrace* const step = typical_step(run);
  if (!memory || step == nullptr) return std::nullopt;
  FitView view{.peak = memory->peak_allocated,
               .capacity = run.record.summary.memory_limit,
               .fits = run.record.summary.fits,
               .margin = run.record.summary.fit_margin,
               .peak_instruction = memory->peak_instruction,
               .peak_label = memory->peak_label,
               .classes = {},
               .by_class = memory->by_class,
               .phases = {}};
  for (std::size_t i = 0; i < k_step_phases; ++i) view.phases[i].phase = static_cast<StepPhase>(i);
  const std::vector<StepPhase> phases = phases_of(run.plan());
  if (const RankTrace* const rank = rank_of(*step, memory->peak_rank)) {
    for (const MemorySample& sample : rank->memory) {
      PhasePeak& phase = view.phases[static_cast<std::size_t>(phases.at(sample.instruction.index()))];
      if (phase.instruction && sample.peak <= phase.bytes) continue;
      phase.bytes = sample.peak;
      phase.by_class = sample.by_class_at_peak;
      phase.instruction = sample.instruction;
    }
  }
  for (std::size_t i = 0; i < k_buffer_classes; ++i)
    if (largest(view, i).value > 0) view.classes.push_back(static_cast<BufferClass>(i));
  std::stable_sort(view.classes.begin(), view.classes.end(), [&](BufferClass a, BufferClass b) {
    return view.by_class[static_cast<std::size_t>(a)] > view.by_class[static_cast<std::size_t>(b)];
  });
  return view;
}

namespace {

const std::vector<std::string> k_settings = {"train.micro_batch", "model.sequence_length",
                                             "parallel.strategy", "activation.checkpoint"};

std::vector<Column> fit_columns(const FitView& view, bool with_phases) {
  const std::string trace = "the trace of the run, on the rank where the peak is highest";
  std::vector<Column> columns = {
      {.title = "class", .numeric = false},
      {.title = "at the peak",
       .unit = "bytes",
       .meaning = {"bytes of live tensors of this class when memory is highest", trace, k_settings}},
      {.title = "share",
       .unit = "fraction",
       .meaning = {"bytes of the class divided by those of all classes, at the peak", trace, k_settings}}};
  if (!with_phases) return columns;
  for (const PhasePeak& phase : view.phases) {
    const std::string name(to_string(phase.phase));
    columns.push_back(
        {.title = name,
         .unit = "bytes",
         .meaning = {"bytes of live tensors of this class when memory is highest within " + name, trace,
                     k_settings}});
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
  const auto highest =
      column == 1 ? std::optional(view.peak_instruction) : view.phases[column - 3].instruction;
  if (highest) why.parts.push_back({"highest in", fmt::format("instruction {}", highest->value), highest});
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
    row.cells = {text_cell(words(to_string(buffer_class))), bytes_cell(view.by_class[i]),
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

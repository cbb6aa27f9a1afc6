#include "gui/view_model/memory/explained_tables.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/base/with_spaces.h"
#include "engine/report/figures.h"

namespace shardlab::view {
namespace {

const std::vector<std::string> k_settings_of_peak = {"train.micro_batch", "model.sequence_length",
                                                     "parallel.strategy", "activation.checkpoint"};

std::string formula_of(const MemoryRow& row) {
  if (row.parts.empty()) return {};
  std::string text = to_text(row.parts.front().formula);
  if (row.parts.size() == 1) return text;
  const std::string& what = row.parts.front().what;
  return fmt::format("{}{}{}; {} more", what, what.empty() ? "" : ": ", text,
                     counted(static_cast<std::int64_t>(row.parts.size()) - 1, "part"));
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// What a row is made of, part by part.
void explain_parts(const std::vector<MemoryPart>& parts, Why& why) {
  why.arithmetic = Arithmetic::sum;
  for (const MemoryPart& part : parts) {
    std::string label = part.what.empty() ? "of it" : part.what;
    if (!part.made_by.empty()) label += ", by " + part.made_by;
    why.parts.push_back({std::move(label),
                         fmt::format("{} = {}", to_string(part.bytes()), to_text(part.formula)),
                         {},
                         static_cast<double>(part.bytes().value)});
  }
}

Row row_of(const MemoryRow& each) {
  Row row;
  row.instruction = each.alive.since;
  row.key = static_cast<std::int64_t>(each.alive.buffer_class);
  row.cells = {text_cell(each.alive.what), bytes_cell(each.alive.bytes), text_cell(formula_of(each)),
               text_cell(each.alive.since_words, CellTone::faint),
               text_cell(joined(each.settings), CellTone::faint)};
  return row;
}

}  // namespace

DataTable memory_rows_table(const ExplainedMemory& memory) {
  DataTable table{"memory-rows",
                  {{.title = "live at the peak", .numeric = false},
                   {.title = "bytes",
                    .unit = "bytes",
                    .meaning = {"elements times the bytes of one, in the scenario's numbers",
                                "the plan and the model's description", k_settings_of_peak}},
                   {.title = "in numbers of the scenario", .numeric = false},
                   {.title = "since", .numeric = false},
                   {.title = "less by", .numeric = false}},
                  {}};
  Bytes sum;
  for (const MemoryRow& each : memory.rows) {
    table.rows.push_back(row_of(each));
    sum += each.alive.bytes;
  }
  if (table.rows.empty()) return table;
  Row all;
  all.key = -1;
  all.cells = {text_cell("all"), bytes_cell(sum), text_cell(""), text_cell(""), text_cell("")};
  table.rows.push_back(std::move(all));
  table.explain = [rows = memory.rows](const DataTable& its, std::size_t row, std::size_t column, Why& why) {
    if (column != 1) return;
    if (row < rows.size()) return explain_parts(rows[row].parts, why);
    why.arithmetic = Arithmetic::sum;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Cell& cell = its.rows[i].cells[column];
      why.parts.push_back({its.rows[i].cells[0].text, cell.text, {}, cell.number});
    }
  };
  return table;
}

namespace {

CellTone tone_of(Fit fits) {
  return fits == Fit::yes ? CellTone::good : fits == Fit::unsure ? CellTone::fair : CellTone::bad;
}

// A change is neither good nor bad: the tones of errors would say so.
Cell change_cell(double after, double before) {
  if (before <= 0) return text_cell("-", CellTone::faint);
  const double change = after / before - 1;
  return {change == 0 ? "same" : signed_percent(change), change};
}

std::vector<Column> savings_columns(bool on_device) {
  const std::string source = "a prediction of the scenario with this setting alone changed";
  const Meaning change = {"of the prediction with the setting divided by that without it, less one", source};
  return {{.title = "set", .numeric = false},
          {.title = "gain",
           .unit = "bytes",
           .meaning = {on_device ? "memory in use on the device without it, less that with it"
                                 : "live tensors at their peak without it, less those with it",
                       source}},
          {.title = on_device ? "on the device" : "peak", .unit = "bytes", .meaning = {"with it", source}},
          {.title = "step time", .unit = "fraction", .meaning = change},
          {.title = "tokens/s", .unit = "fraction", .meaning = change},
          {.title = "fits", .numeric = false},
          {.title = "what it does", .numeric = false}};
}

void explain_saving(const ExplainedMemory& memory, std::size_t row, std::size_t column, Why& why) {
  const MemorySaving& saving = memory.savings[row];
  const auto part = [&](const char* label, const std::string& text, double number) {
    why.parts.push_back({label, text, {}, number});
  };
  const auto bytes = [&](const char* label, Bytes of) {
    part(label, to_string(of), static_cast<double>(of.value));
  };
  if (column == 1) {
    const Bytes after = saving.peak_device.value_or(saving.peak_allocated);
    why.arithmetic = Arithmetic::difference;
    bytes("without it", after + saving.gain);
    bytes("with it", after);
  } else if (column == 3) {
    why.arithmetic = Arithmetic::error;
    part("with it", to_string(saving.step_time), static_cast<double>(saving.step_time.value));
    part("without it", to_string(memory.step_time), static_cast<double>(memory.step_time.value));
  } else if (column == 4) {
    why.arithmetic = Arithmetic::error;
    part("with it", rate(saving.tokens_per_second), saving.tokens_per_second);
    part("without it", rate(memory.tokens_per_second), memory.tokens_per_second);
  }
}

}  // namespace

DataTable savings_table(const ExplainedMemory& memory) {
  DataTable table{"savings", savings_columns(memory.sum.lines.size() > 1), {}};
  for (const MemorySaving& each : memory.savings) {
    Row row;
    row.cells = {
        text_cell(each.setting),
        bytes_cell(each.gain),
        bytes_cell(each.peak_device.value_or(each.peak_allocated)),
        change_cell(static_cast<double>(each.step_time.value), static_cast<double>(memory.step_time.value)),
        change_cell(each.tokens_per_second, memory.tokens_per_second),
        each.fits ? text_cell(std::string(to_string(*each.fits)), tone_of(*each.fits))
                  : text_cell("-", CellTone::faint),
        text_cell(each.effect, CellTone::faint)};
    table.rows.push_back(std::move(row));
  }
  table.explain = [memory](const DataTable&, std::size_t row, std::size_t column, Why& why) {
    explain_saving(memory, row, column, why);
  };
  return table;
}

DataTable life_table(const RunSummary& run) {
  DataTable table{
      "job-memory",
      {{.title = "phase of the job", .numeric = false},
       {.title = "device",
        .unit = "bytes",
        .meaning = {"live tensors of the rank with most", "the prediction of the job's phases"}},
       {.title = "host of a node",
        .unit = "bytes",
        .meaning = {"of the node with most, its processes included", "the prediction of the job's phases"}},
       {.title = "what it is", .numeric = false}},
      {}};
  if (!run.memory) return table;
  for (const PhaseMemory& phase : run.memory->life) {
    const bool too_large = run.memory_limit && phase.device > *run.memory_limit;
    if (!phase.asked && !too_large) continue;
    std::string note = phase.asked ? phase.formula : "not asked for: " + phase.formula;
    if (phase.asked && !phase.runs) note += " (predicted, not run yet)";
    Cell device = bytes_cell(phase.device);
    if (too_large) device.tone = CellTone::bad;
    table.rows.push_back({{text_cell(with_spaces(to_string(phase.phase))), std::move(device),
                           bytes_cell(phase.host), text_cell(std::move(note), CellTone::faint)}});
  }
  table.explain = [](const DataTable& its, std::size_t row, std::size_t, Why& why) {
    why.notes.push_back(its.rows[row].cells[3].text);
  };
  return table;
}

}  // namespace shardlab::view

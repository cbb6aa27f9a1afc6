#include "gui/view_model/memory/memory_tables.h"

#include <utility>

namespace shardlab::view {
namespace {

const std::vector<std::string> k_settings_of_memory = {"parallel.strategy", "activation.checkpoint",
                                                       "train.micro_batch", "cluster.memory_limit"};

// Rows of parts make up the sums below them; the last row is what the one above it leaves.
enum class LineKey : std::int64_t { part, sum, limit, left };

void add(DataTable& table, std::string name, Bytes bytes, std::string note, LineKey key,
         CellTone tone = CellTone::plain) {
  Row row;
  row.key = static_cast<std::int64_t>(key);
  Cell figure = bytes_cell(bytes);
  figure.tone = tone;
  row.cells = {text_cell(std::move(name)), std::move(figure), text_cell(std::move(note), CellTone::faint)};
  table.rows.push_back(std::move(row));
}

WhyPart named_part(const DataTable& table, std::size_t row) {
  const std::vector<Cell>& cells = table.rows[row].cells;
  return {cells[0].text, cells[1].text, {}, cells[1].number};
}

void explain_line(const DataTable& table, std::size_t row, std::size_t column, Why& why) {
  if (column != 1) return;
  const auto key = static_cast<LineKey>(table.rows[row].key);
  if (key == LineKey::sum) {
    why.arithmetic = Arithmetic::sum;
    for (std::size_t i = 0; i < row; ++i)
      if (static_cast<LineKey>(table.rows[i].key) == LineKey::part) why.parts.push_back(named_part(table, i));
  } else if (key == LineKey::left) {
    why.arithmetic = Arithmetic::difference;
    why.parts = {named_part(table, row - 1), named_part(table, row - 2)};
  } else {
    why.notes.push_back(table.rows[row].cells[2].text);
  }
}

CellTone tone_of(const std::optional<Fit>& fits) {
  if (!fits) return CellTone::plain;
  return *fits == Fit::yes ? CellTone::good : *fits == Fit::unsure ? CellTone::fair : CellTone::bad;
}

}  // namespace

DataTable memory_sum_table(const MemorySum& sum) {
  DataTable table;
  table.name = "memory_sum";
  table.columns = {
      {.title = "up to the device", .numeric = false},
      {.title = "bytes",
       .unit = "bytes",
       .meaning = {"live tensors, what the allocator and libraries take beside them, and their sums",
                   "the prediction of the run: its allocator and its libraries", k_settings_of_memory}},
      {.title = "what it is", .numeric = false}};
  for (const MemorySumLine& line : sum.lines)
    add(table, line.name, line.bytes, line.note, line.role == SumRole::sum ? LineKey::sum : LineKey::part);
  if (sum.limit && !sum.lines.empty()) {
    add(table, "limit of a rank", *sum.limit, "of the device, or as the scenario says", LineKey::limit);
    add(table, "left", *sum.limit - sum.total(), verdict_words(sum), LineKey::left, tone_of(sum.fits));
  }
  table.explain = explain_line;
  return table;
}

DataTable other_tools_table(const MemorySum& sum, const std::vector<ToolAnswer>& tools) {
  DataTable table;
  table.name = "other_tools";
  table.columns = {{.title = "tool", .numeric = false},
                   {.title = "bytes",
                    .unit = "bytes",
                    .meaning = {"what a tool's formula makes of the scenario, of a rank",
                                "the tool's own source", k_settings_of_memory}},
                   {.title = "formula", .numeric = false}};
  const auto add_tool = [&](const std::string& name, std::optional<Bytes> bytes, const std::string& formula) {
    table.rows.push_back({{text_cell(name), bytes_cell(bytes), text_cell(formula, CellTone::faint)}});
  };
  std::vector<std::string> sources = {"the sum above"};
  if (!sum.lines.empty()) add_tool("shardlab", sum.total(), sum.lines.back().name);
  for (const ToolAnswer& each : tools) {
    add_tool(each.tool, each.bytes, each.formula);
    sources.push_back(each.source);
  }
  if (sum.lines.empty()) sources.erase(sources.begin());
  table.explain = [sources](const DataTable& its, std::size_t row, std::size_t, Why& why) {
    why.source = sources[row];
    why.notes.push_back(its.rows[row].cells[2].text);
  };
  return table;
}

}  // namespace shardlab::view

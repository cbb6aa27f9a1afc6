#include "gui/view_model/memory/alive_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/with_spaces.h"
#include "engine/report/figures.h"
#include "gui/view_model/memory/alive_lines.h"
#include "gui/view_model/memory/space_tables.h"

namespace shardlab::view {
namespace {

bool uses_other_spaces(const StepPlan& plan) {
  return std::any_of(plan.buffers.begin(), plan.buffers.end(),
                     [](const Buffer& buffer) { return buffer.space != MemorySpace::device; });
}

void explain_buffer(const Buffer& buffer, Why& why) {
  why.arithmetic = Arithmetic::product;
  const auto elements = static_cast<double>(buffer.elements);
  const double each = elements == 0 ? 0 : static_cast<double>(buffer.own_bytes().value) / elements;
  why.parts.push_back({"elements", grouped(buffer.elements), {}, elements});
  why.parts.push_back(
      {"bytes of one " + std::string(to_string(buffer.dtype)), fmt::format("{}", each), {}, each});
  if (buffer.shards > 1) why.notes.push_back(fmt::format("spread over {} ranks", buffer.shards));
}

void explain_buffers(const StepPlan& plan, const std::vector<BufferId>& members, Why& why) {
  constexpr std::size_t k_listed = 12;
  why.arithmetic = Arithmetic::sum;
  Bytes rest;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Buffer& buffer = plan.buffer(members[i]);
    if (i < k_listed) {
      const auto number = static_cast<double>(buffer.own_bytes().value);
      why.parts.push_back({buffer.name, to_string(buffer.own_bytes()), {}, number});
    } else {
      rest += buffer.own_bytes();
    }
  }
  if (members.size() > k_listed)
    why.parts.push_back({fmt::format("{} others", members.size() - k_listed),
                         to_string(rest),
                         {},
                         static_cast<double>(rest.value)});
}

// What is alive only while the instruction runs has no buffers of the plan; a sum adds up the rows of its
// space.
void explain_row(const StepPlan& plan, const std::vector<AliveLine>& lines, const DataTable& table,
                 std::size_t row, std::size_t column, Why& why) {
  if (row >= lines.size()) {
    const auto space = static_cast<MemorySpace>(table.rows[row].key);
    why.arithmetic = Arithmetic::sum;
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (lines[i].alive.space == space) {
        const Cell& cell = table.rows[i].cells[column];
        why.parts.push_back({table.rows[i].cells[0].text, cell.text, {}, cell.number});
      }
    return;
  }
  const std::vector<BufferId>& members = lines[row].alive.members;
  if (members.empty())
    why.notes.push_back("what the instruction makes or gives back while it runs, at its highest");
  else if (members.size() == 1)
    explain_buffer(plan.buffer(members.front()), why);
  else
    explain_buffers(plan, members, why);
}

struct Shape {
  AliveForm form;
  bool with_space;
};

// What, the buffer and the memory space where they have columns, and the class stand before it.
std::size_t size_column(Shape shape) {
  return std::size_t{2} + (shape.form == AliveForm::single ? 1 : 0) + (shape.with_space ? 1 : 0);
}

std::vector<Column> columns_of(Shape shape) {
  std::vector<Column> columns = {{"what", "", false}};
  if (shape.form == AliveForm::single) columns.push_back({"buffer", "", false});
  columns.push_back({"class", "", false});
  if (shape.with_space) columns.push_back({"memory space", "", false});
  columns.push_back({"size",
                     "bytes",
                     true,
                     {"elements times the bytes of one of their dtype, of all buffers of the row",
                      "the plan",
                      {"parallel.strategy", "precision", "train.micro_batch"}}});
  if (shape.form == AliveForm::added_up)
    columns.push_back({"buffers", "", true, {"of the plan, added up in this row", "the plan"}});
  columns.push_back({"since", "", false});
  if (shape.form == AliveForm::single) columns.push_back({"until", "", false});
  return columns;
}

Row row_of(const AliveLine& line, Shape shape) {
  const AliveRow& alive = line.alive;
  Row row;
  row.instruction = alive.since;
  row.key = static_cast<std::int64_t>(alive.space);
  row.cells = {text_cell(alive.what)};
  if (shape.form == AliveForm::single) row.cells.push_back(text_cell(line.name, CellTone::faint));
  row.cells.push_back(text_cell(with_spaces(to_string(alive.buffer_class))));
  if (shape.with_space) row.cells.push_back(text_cell(space_words(alive.space)));
  row.cells.push_back(bytes_cell(alive.bytes));
  if (shape.form == AliveForm::added_up)
    row.cells.push_back(alive.buffers > 0 ? count_cell(alive.buffers) : text_cell("-", CellTone::faint));
  row.cells.push_back(text_cell(alive.since_words));
  if (shape.form == AliveForm::single) row.cells.push_back(text_cell(line.until));
  return row;
}

// A row that adds a space's rows up; nothing where it has none.
void add_sum(DataTable& table, const std::vector<AliveLine>& lines, MemorySpace space, Shape shape) {
  AliveLine sum;
  sum.alive.space = space;
  sum.alive.what =
      "all in " + (space == MemorySpace::device ? "device memory" : space_words(space) + " memory");
  bool any = false;
  for (const AliveLine& line : lines) {
    if (line.alive.space != space) continue;
    any = true;
    sum.alive.bytes += line.alive.bytes;
    sum.alive.buffers += line.alive.buffers;
  }
  if (!any) return;
  Row row = row_of(sum, shape);
  row.cells[shape.form == AliveForm::single ? 2 : 1] = text_cell("");
  table.rows.push_back(std::move(row));
}

}  // namespace

DataTable alive_table(const LoadedRunPtr& run, const std::vector<BufferLife>& lives,
                      std::optional<InstructionId> id, AliveForm form) {
  const Shape shape{form, uses_other_spaces(run->plan())};
  DataTable table{"alive-buffers", columns_of(shape), {}};
  std::vector<AliveLine> lines = alive_lines(*run, lives, id, form);
  for (const AliveLine& line : lines) table.rows.push_back(row_of(line, shape));
  for (std::size_t i = 0; i < k_memory_spaces; ++i) add_sum(table, lines, static_cast<MemorySpace>(i), shape);
  table.explain = [run, lines = std::move(lines), of_sizes = size_column(shape)](
                      const DataTable& its, std::size_t row, std::size_t column, Why& why) {
    if (column == of_sizes) explain_row(run->plan(), lines, its, row, column, why);
  };
  return table;
}

}  // namespace shardlab::view

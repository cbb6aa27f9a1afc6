#include "gui/view_model/buffer_lives.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "engine/report/figures.h"

namespace shardlab::view {
namespace {

std::string name_of(BufferClass buffer_class) {
  std::string name(to_string(buffer_class));
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

Row alive_row(const StepPlan& plan, const BufferLife& life) {
  const Buffer& buffer = plan.buffer(life.buffer);
  const auto count = static_cast<std::int64_t>(plan.instructions.size());
  const auto label = [&](std::int64_t index) {
    return instruction_label(plan, make_id<InstructionId>(static_cast<std::size_t>(index)));
  };
  Row row;
  row.cells = {text_cell(buffer.name), text_cell(name_of(buffer.buffer_class)), bytes_cell(buffer.bytes()),
               text_cell(life.begin < 0 ? "the step before" : label(life.begin)),
               text_cell(life.end >= count ? "lives on" : label(life.end))};
  if (life.begin >= 0) row.instruction = make_id<InstructionId>(static_cast<std::size_t>(life.begin));
  row.key = static_cast<std::int64_t>(life.buffer.index());
  return row;
}

void explain_size(const Buffer& buffer, Why& why) {
  why.arithmetic = Arithmetic::product;
  const auto elements = static_cast<double>(buffer.elements);
  const double each = elements == 0 ? 0 : static_cast<double>(buffer.bytes().value) / elements;
  why.parts.push_back({"elements", grouped(buffer.elements), {}, elements});
  why.parts.push_back(
      {"bytes of one " + std::string(to_string(buffer.dtype)), fmt::format("{}", each), {}, each});
  if (buffer.shards > 1) why.notes.push_back(fmt::format("spread over {} ranks", buffer.shards));
}

}  // namespace

std::vector<BufferLife> buffer_lives(const StepPlan& plan) {
  std::vector<std::optional<std::int64_t>> since(plan.buffers.size());
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    if (plan.buffers[i].carried) since[i] = -1;
  }
  std::vector<BufferLife> lives;
  const auto end_life = [&](BufferId id, std::int64_t at) {
    if (since[id.index()]) lives.push_back({id, *since[id.index()], at});
    since[id.index()].reset();
  };
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    for (const BufferId id : plan.instructions[i].allocates) since[id.index()] = at;
    for (const BufferId id : plan.instructions[i].frees) end_life(id, at);
  }
  for (std::size_t i = 0; i < plan.buffers.size(); ++i)
    end_life(make_id<BufferId>(i), static_cast<std::int64_t>(plan.instructions.size()));
  std::sort(lives.begin(), lives.end(), [](const BufferLife& a, const BufferLife& b) {
    return std::tie(a.begin, a.buffer) < std::tie(b.begin, b.buffer);
  });
  return lives;
}

DataTable alive_table(const StepPlan& plan, const std::vector<BufferLife>& lives, InstructionId id) {
  DataTable table{"alive-buffers",
                  {{"buffer", "", false},
                   {"class", "", false},
                   {"size",
                    "bytes",
                    true,
                    {"elements of the buffer, times the bytes of one of its dtype",
                     "the plan",
                     {"parallel.strategy", "precision", "train.micro_batch"}}},
                   {"since", "", false},
                   {"until", "", false}},
                  {}};
  table.explain = [buffers = plan.buffers](const DataTable& its, std::size_t row, std::size_t column,
                                           Why& why) {
    if (column == 2) explain_size(buffers[static_cast<std::size_t>(its.rows[row].key)], why);
  };
  for (const BufferLife& life : lives) {
    if (life.alive_after(static_cast<std::int64_t>(id.index()))) table.rows.push_back(alive_row(plan, life));
  }
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const Row& a, const Row& b) { return *a.cells[2].number > *b.cells[2].number; });
  return table;
}

}  // namespace shardlab::view

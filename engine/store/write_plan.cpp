#include "engine/store/write_plan.h"

#include "engine/plan/text.h"
#include "engine/store/packed.h"
#include "engine/store/sql_values.h"

namespace shardlab {
namespace {

void bind_instruction(SQLite::Statement& insert, const StepPlan& plan, InstructionId id) {
  const Instruction& instruction = plan.instruction(id);
  std::optional<std::string> unit, segment, group;
  if (instruction.unit) unit = plan.units[instruction.unit->index()].name;
  if (instruction.segment) segment = plan.segments[instruction.segment->index()].name;
  if (instruction.group) group = to_text(plan.groups[instruction.group->index()].ranks);
  insert.bind(2, static_cast<std::int64_t>(id.value));
  insert.bind(3, instruction_label(plan, id));
  insert.bind(4, std::string(to_string(instruction.kind)));
  insert.bind(5, plan.streams[instruction.stream.index()].name);
  bind_text_or_null(insert, 6, unit);
  bind_text_or_null(insert, 7, segment);
  instruction.micro_batch ? insert.bind(8, *instruction.micro_batch) : insert.bind(8);
  bind_text_or_null(insert, 9, group);
  instruction.group ? insert.bind(10, plan.groups[instruction.group->index()].size) : insert.bind(10);
  bind_quantity(insert, 11, instruction.bytes);
}

void write_instructions(SQLite::Database& db, const StepPlan& plan, std::int64_t plan_id) {
  SQLite::Statement insert(db, "INSERT INTO instructions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(1, plan_id);
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    bind_instruction(insert, plan, make_id<InstructionId>(i));
    insert.exec();
    insert.reset();
  }
}

void bind_text_or_packed(SQLite::Statement& insert, int index, const std::string& text, bool is_packed) {
  if (!is_packed) return insert.bind(index, text);
  const std::string packed = pack_text(text);
  insert.bind(index, packed.data(), static_cast<int>(packed.size()));
}

}  // namespace

std::int64_t write_plan(SQLite::Database& db, const StepPlan& plan, const std::string& hash) {
  SQLite::Statement known(db, "SELECT id FROM plans WHERE hash = ?");
  known.bind(1, hash);
  if (known.executeStep()) return known.getColumn(0).getInt64();

  SQLite::Statement insert(
      db,
      "INSERT INTO plans (hash, phase, strategy, world_size, micro_batches, text) VALUES (?, ?, ?, ?, ?, ?)");
  insert.bind(1, hash);
  insert.bind(2, std::string(to_string(plan.phase)));
  insert.bind(3, plan.strategy);
  insert.bind(4, plan.world_size);
  insert.bind(5, plan.micro_batches);
  const bool is_packed = plan.instructions.size() > k_most_rows;
  bind_text_or_packed(insert, 6, to_text(plan), is_packed);
  insert.exec();
  const std::int64_t plan_id = db.getLastInsertRowid();
  if (!is_packed) write_instructions(db, plan, plan_id);
  return plan_id;
}

}  // namespace shardlab

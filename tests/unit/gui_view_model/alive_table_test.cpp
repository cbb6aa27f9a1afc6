#include "gui/view_model/memory/alive_table.h"

#include "gui/view_model/memory/alive_lines.h"
#include "gui/view_model/memory/space_tables.h"
#include "tests/catch.h"
#include "tests/unit/gui_view_model/loaded_runs.h"

using namespace shardlab;
using namespace shardlab::test;
using namespace shardlab::view;

namespace {

DataTable table_of(const LoadedRunPtr& run, std::optional<InstructionId> id, AliveForm form) {
  return alive_table(run, buffer_lives(run->plan()), id, form);
}

const Cell& cell(const DataTable& table, std::size_t row, const std::string& column) {
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (table.columns[i].title == column) return table.rows.at(row).cells.at(i);
  FAIL("no column " << column);
  return table.rows.front().cells.front();
}

bool has_column(const DataTable& table, const std::string& title) {
  for (const Column& column : table.columns)
    if (column.title == title) return true;
  return false;
}

// The shard lies in pinned memory of the host.
LoadedRunPtr offloading_run() {
  LoadedRun run = loaded_run(1, RunKind::predicted);
  run.record.plan.steady.buffers[0].space = MemorySpace::pinned_host;
  return shared_run(std::move(run));
}

}  // namespace

TEST_CASE("buffers alive after an instruction, the largest first, in words, with since and until") {
  LoadedRun loaded = loaded_run(1, RunKind::measured);
  loaded.record.plan.steady.buffers[1].unit = UnitId{1};
  const auto run = shared_run(std::move(loaded));
  const DataTable table = table_of(run, InstructionId{1}, AliveForm::single);
  REQUIRE(table.rows.size() == 3);
  CHECK(cell(table, 0, "what").text == "gathered parameters of layer 0");
  CHECK(cell(table, 0, "buffer").text == "full.u0");
  CHECK(cell(table, 0, "since").text == "all-gather of layer 0");
  CHECK(cell(table, 0, "until").text == "backward of layer 0");
  CHECK(cell(table, 1, "since").text == "before the step");
  CHECK(cell(table, 1, "until").text == "lives on");
  CHECK(cell(table, 2, "what").text == "all in device memory");
  CHECK(cell(table, 2, "size").number == 120);
  CHECK_FALSE(has_column(table, "memory space"));
}

TEST_CASE("at the peak the rows add up to it, with what is alive only while the instruction runs") {
  const auto run = shared_run(loaded_run(1, RunKind::measured));
  const DataTable table = table_of(run, {}, AliveForm::added_up);
  double sum = 0;
  bool workspace = false;
  for (std::size_t i = 0; i + 1 < table.rows.size(); ++i) {
    sum += *cell(table, i, "size").number;
    workspace = workspace || cell(table, i, "class").text == "workspace";
  }
  CHECK(sum == static_cast<double>(run->record.summary.memory->peak_allocated.value));
  CHECK(cell(table, table.rows.size() - 1, "size").number == sum);
  CHECK(workspace);
}

TEST_CASE("of the instruction in which memory is highest, what makes the peak is alive, not what it leaves") {
  const auto run = shared_run(loaded_run(1, RunKind::measured));
  const MemorySummary& memory = *run->record.summary.memory;
  CHECK(is_alive_at_peak(*run, memory.peak_instruction));
  CHECK_FALSE(is_alive_at_peak(*run, InstructionId{1}));
  for (const AliveForm form : {AliveForm::added_up, AliveForm::single}) {
    const DataTable table = table_of(run, memory.peak_instruction, form);
    CHECK(cell(table, table.rows.size() - 1, "size").number ==
          static_cast<double>(memory.peak_allocated.value));
  }
}

TEST_CASE("memory of the host is not added to the device's") {
  const auto run = offloading_run();
  for (const AliveForm form : {AliveForm::added_up, AliveForm::single}) {
    const DataTable table = table_of(run, InstructionId{1}, form);
    REQUIRE(table.rows.size() == 4);
    CHECK(cell(table, 0, "memory space").text == "device");
    CHECK(cell(table, 1, "memory space").text == "pinned host");
    CHECK(cell(table, 2, "what").text == "all in device memory");
    CHECK(cell(table, 2, "size").number == 80);
    CHECK(cell(table, 3, "what").text == "all in pinned host memory");
    CHECK(cell(table, 3, "size").number == 40);
  }
}

TEST_CASE("spaces and transfers are tables of their own") {
  LoadedRun run = loaded_run(1, RunKind::predicted);
  CHECK_FALSE(leaves_the_device(run));
  run.record.summary.memory->spaces = {{MemorySpace::device, Bytes{40}, Bytes{200}},
                                       {MemorySpace::pinned_host, Bytes{70}, Bytes{90}}};
  run.record.summary.transfers = {{MemorySpace::device, MemorySpace::pinned_host, 3, Bytes{1000}}};
  CHECK(leaves_the_device(run));
  const DataTable spaces = spaces_table(run), transfers = transfers_table(run);
  REQUIRE(spaces.rows.size() == 2);
  CHECK(cell(spaces, 1, "memory space").text == "pinned host");
  CHECK(cell(spaces, 1, "between steps").number == 70);
  CHECK(cell(spaces, 1, "at most").number == 90);
  REQUIRE(transfers.rows.size() == 1);
  CHECK(cell(transfers, 0, "a rank moves in a step").text == "device to pinned host");
  CHECK(cell(transfers, 0, "times").number == 3);
  CHECK(cell(transfers, 0, "bytes").number == 1000);
}

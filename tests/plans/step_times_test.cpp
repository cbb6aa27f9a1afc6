// Plans of the small model on the event engine: step times that were computed by hand.
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "simulator/core/timeline.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/plans/golden_model.h"
#include "tests/plans/plan_cases.h"

namespace shardlab::test {
namespace {

struct Row {
  std::int64_t gather = 0, gather_root = 0, scatter = 0, scatter_root = 0;
  std::string sharding, prefetch, communicators;
  std::int64_t step = 0;
};

std::vector<Row> read_rows(const std::string& file) {
  std::vector<Row> rows;
  std::ifstream stream(data_file("plans/step_times/" + file));
  for (std::string line; std::getline(stream, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    Row row;
    words >> row.gather >> row.gather_root >> row.scatter >> row.scatter_root >> row.sharding >>
        row.prefetch >> row.communicators >> row.step;
    REQUIRE(words);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::int64_t duration(const Row& row, const Instruction& instruction, std::size_t segments) {
  const bool root = instruction.unit == Partition::root();
  const bool embedding = instruction.segment && instruction.segment->index() == 0;
  const bool head = instruction.segment && instruction.segment->index() + 1 == segments;
  switch (instruction.kind) {
    case InstructionKind::Forward: return embedding ? 1 : head ? 2 : 10;
    case InstructionKind::Backward: return embedding ? 2 : head ? 4 : 20;
    case InstructionKind::AllGather: return root ? row.gather_root : row.gather;
    case InstructionKind::ReduceScatter: return root ? row.scatter_root : row.scatter;
    default: return 0;
  }
}

std::int64_t step_time(const StepPlan& plan, const Row& row) {
  std::vector<TimedInstruction> timed;
  for (const Instruction& instruction : plan.instructions) {
    TimedInstruction& one = timed.emplace_back();
    one.stream = instruction.stream.value;
    one.duration = {duration(row, instruction, 6)};
    one.waits = instruction.waits;
    one.occupation = is_host_only(instruction.kind) ? Occupation::nothing : Occupation::compute;
    if (instruction.kind == InstructionKind::HostWait) one.occupation = Occupation::host_wait;
    if (is_collective(instruction.kind)) one.occupation = Occupation::collective;
    one.group = row.communicators == "separate" && instruction.kind == InstructionKind::ReduceScatter ? 1 : 0;
  }
  const auto spans = run_timeline(
      {HostBehaviour::asynchronous, static_cast<std::uint32_t>(plan.streams.size()), 2, {}, {}}, timed);
  REQUIRE_OK(spans);
  return timeline_duration(*spans).value;
}

}  // namespace

TEST_CASE("step times of FSDP1's plans equal those computed by hand") {
  const ModelGraph graph = golden_model();
  const std::vector<Row> rows = read_rows("fsdp1.txt");
  CHECK(rows.size() >= 23);
  for (const Row& row : rows) {
    for (const std::string limit : {"true", "false"}) {
      const Scenario scenario = small_llama(
          {"cluster.ranks=4", "parallel.strategy=fsdp1", "parallel.sharding=" + row.sharding,
           "parallel.prefetch.backward=" + row.prefetch, "parallel.prefetch.limit_all_gathers=" + limit,
           "precision.param=bfloat16", "precision.reduce=float32"});
      INFO(fmt::format("gather {}, {} prefetch {} {} limiter {}", row.gather, row.sharding, row.prefetch,
                       row.communicators, limit));
      CHECK(step_time(golden_plan(graph, scenario), row) == row.step);
    }
  }
}

}  // namespace shardlab::test

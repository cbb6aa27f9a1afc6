#include "engine/trace/critical_path.h"

#include "tests/catch.h"
#include "tests/hand_made_run.h"

using namespace shardlab;
using namespace shardlab::test;

namespace {

StepPlan plan_of(std::vector<Instruction> instructions) {
  StepPlan plan = hand_made_plan();
  plan.instructions = std::move(instructions);
  return plan;
}

RankTrace rank_of(std::vector<Span> spans) {
  RankTrace rank;
  rank.spans = std::move(spans);
  return rank;
}

struct Piece {
  int instruction;  // -1: the host
  std::int64_t begin, end;
  friend bool operator==(const Piece&, const Piece&) = default;
};

std::vector<Piece> pieces_of(const StepPlan& plan, const RankTrace& rank, bool host_computes = false) {
  std::vector<Piece> pieces;
  for (const PathPiece& each : critical_path(plan, rank, host_computes))
    pieces.push_back({each.instruction ? static_cast<int>(each.instruction->value) : -1,
                      each.when.begin.value, each.when.end.value});
  return pieces;
}

}  // namespace

TEST_CASE("the path goes from what ended last to what it waited for, and leaves out what was hidden") {
  // 0 AllGather [5 105), issued at 0; 1 Forward waits for it [105 305); 2 AllGather beside it [10 250);
  // 3 Forward waits for that and for the stream [305 400).
  const StepPlan plan = plan_of({hand_made_instruction(InstructionKind::AllGather, 1, {}),
                                 hand_made_instruction(InstructionKind::Forward, 0, {{0}}),
                                 hand_made_instruction(InstructionKind::AllGather, 1, {}),
                                 hand_made_instruction(InstructionKind::Forward, 0, {{2}})});
  const RankTrace rank = rank_of({hand_made_span(0, 0, 0, 5, 105), hand_made_span(1, 5, 105, 105, 305),
                                  hand_made_span(2, 8, 105, 105, 250), hand_made_span(3, 12, 250, 305, 400)});
  CHECK(pieces_of(plan, rank) == std::vector<Piece>{{-1, 0, 5}, {0, 5, 105}, {1, 105, 305}, {3, 305, 400}});
}

TEST_CASE("where nothing ended before, the host was late, from where it last stood still") {
  // 0 Forward [0 100); 1 HostWait for it until 100; 2 Backward issued at 130, launched at 140, [140 200).
  const StepPlan plan = plan_of({hand_made_instruction(InstructionKind::Forward, 0, {}),
                                 hand_made_instruction(InstructionKind::HostWait, 0, {{0}}),
                                 hand_made_instruction(InstructionKind::Backward, 0, {})});
  const RankTrace rank = rank_of({hand_made_span(0, 0, 0, 0, 100), hand_made_span(1, 20, 100, 100, 100),
                                  hand_made_span(2, 130, 130, 140, 200)});
  CHECK(pieces_of(plan, rank) == std::vector<Piece>{{0, 0, 100}, {-1, 100, 140}, {2, 140, 200}});
}

TEST_CASE("an update in host memory is the host's own work") {
  // 0 OptimizerStep on the host [0 400); 1 Copy of its result, issued at 400, [405 500).
  StepPlan plan = plan_of({hand_made_instruction(InstructionKind::OptimizerStep, 0, {}),
                           hand_made_instruction(InstructionKind::Copy, 0, {})});
  Buffer state;
  state.space = MemorySpace::pageable_host;
  plan.buffers = {state};
  plan.instructions[0].reads = plan.instructions[0].writes = {{0}};
  const RankTrace rank = rank_of({hand_made_span(0, 0, 0, 0, 400), hand_made_span(1, 400, 400, 405, 500)});
  CHECK(pieces_of(plan, rank) == std::vector<Piece>{{0, 0, 400}, {-1, 400, 405}, {1, 405, 500}});
}

TEST_CASE("kernels that end with their launches are the host's time") {
  // 0 Forward of many kernels, issued from 0 to 90 and done at 90; 1 Backward, issued at 90, [95 300).
  const StepPlan plan = plan_of({hand_made_instruction(InstructionKind::Forward, 0, {}),
                                 hand_made_instruction(InstructionKind::Backward, 0, {})});
  const RankTrace rank = rank_of({hand_made_span(0, 0, 0, 5, 90), hand_made_span(1, 90, 90, 95, 300)});
  CHECK(pieces_of(plan, rank) == std::vector<Piece>{{-1, 0, 95}, {1, 95, 300}});
  // On a processor the host computed all that time.
  CHECK(pieces_of(plan, rank, true) ==
        std::vector<Piece>{{-1, 0, 5}, {0, 5, 90}, {-1, 90, 95}, {1, 95, 300}});
}

TEST_CASE("what was skipped is on no path, and a rank without spans has none") {
  const StepPlan plan = plan_of({hand_made_instruction(InstructionKind::Forward, 0, {}),
                                 hand_made_instruction(InstructionKind::OptimizerStep, 0, {})});
  RankTrace rank = rank_of({hand_made_span(0, 0, 0, 0, 100), hand_made_span(1, 10, 100, 100, 400)});
  rank.spans[1].skipped = true;
  CHECK(pieces_of(plan, rank) == std::vector<Piece>{{0, 0, 100}});
  CHECK(pieces_of(plan, RankTrace{}).empty());
}

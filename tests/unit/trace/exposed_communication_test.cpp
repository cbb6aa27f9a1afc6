#include "engine/trace/exposed_communication.h"

#include "tests/catch.h"
#include "tests/hand_made_run.h"

using namespace shardlab;
using namespace shardlab::test;

TEST_CASE("the compute stream's idle time behind a collective is exposed, the host's lateness is not") {
  // Idle [0, 100): Forward is issued at 10 and its gather ends at 100: 90 of it.
  // Idle [400, 460): the host is blocked for the reduce-scatter until 450: 50. The rest is the host's own.
  CHECK(exposed_communication(hand_made_plan(), hand_made_rank()) == Nanoseconds{140});
  CHECK(exposed_intervals(hand_made_plan(), hand_made_rank()) ==
        std::vector<TimeInterval>{{{10}, {100}}, {{400}, {450}}});
}

TEST_CASE("hidden communication is not exposed") {
  // The gather ends at 90 while compute is busy with something else: a Forward that ran before.
  StepPlan plan = hand_made_plan();
  RankTrace rank = hand_made_rank();
  plan.instructions[1].waits.clear();
  plan.instructions[2].waits = {{0}};
  rank.spans[1] = hand_made_span(1, 10, 10, 10, 200);
  // Left: [400, 450) as above.
  CHECK(exposed_communication(plan, rank) == Nanoseconds{50});
}

TEST_CASE("waiting through other instructions counts until the collective ends") {
  // Forward waits for an Unpack on another stream, which waits for the gather: 0 AllGather, 1 Unpack, 2
  // Forward.
  StepPlan plan = hand_made_plan();
  plan.instructions = {hand_made_instruction(InstructionKind::AllGather, 1, {}),
                       hand_made_instruction(InstructionKind::Unpack, 2, {{0}}),
                       hand_made_instruction(InstructionKind::Forward, 0, {{1}})};
  RankTrace rank;
  rank.spans = {hand_made_span(0, 0, 0, 0, 100), hand_made_span(1, 0, 100, 100, 130),
                hand_made_span(2, 0, 130, 130, 200)};
  CHECK(exposed_communication(plan, rank) == Nanoseconds{100});  // the 30 of the Unpack are its own

  // The order of a stream counts like a wait: a second gather queues behind the first.
  plan.instructions[1] = hand_made_instruction(InstructionKind::Copy, 1, {});
  CHECK(exposed_communication(plan, rank) == Nanoseconds{100});
}

TEST_CASE("a collective that waits for a copy exposes the copy as well") {
  // 0 Copy [0 40) on a stream of its own, 1 AllGather waits for it, [40 100); 2 Forward waits for the gather
  // from 0 on.
  StepPlan plan = hand_made_plan();
  plan.instructions = {hand_made_instruction(InstructionKind::Copy, 2, {}),
                       hand_made_instruction(InstructionKind::AllGather, 1, {{0}}),
                       hand_made_instruction(InstructionKind::Forward, 0, {{1}})};
  RankTrace rank;
  rank.spans = {hand_made_span(0, 0, 0, 0, 40), hand_made_span(1, 0, 40, 40, 100),
                hand_made_span(2, 0, 100, 100, 200)};
  CHECK(exposed_communication(plan, rank) == Nanoseconds{100});
}

TEST_CASE("a host that works step by step: its own work is not waiting") {
  // A CPU: the host runs the Copy itself [0 40), starts the gather, reaches Forward at 41 and stands there
  // until 100.
  StepPlan plan = hand_made_plan();
  plan.instructions = {hand_made_instruction(InstructionKind::Copy, 2, {}),
                       hand_made_instruction(InstructionKind::AllGather, 1, {{0}}),
                       hand_made_instruction(InstructionKind::Forward, 0, {{1}})};
  RankTrace rank;
  rank.spans = {hand_made_span(0, 0, 0, 0, 40), hand_made_span(1, 40, 40, 41, 100),
                hand_made_span(2, 41, 101, 101, 200)};
  CHECK(exposed_communication(plan, rank) == Nanoseconds{59});

  SECTION("an instruction of another stream that keeps the host standing keeps compute idle") {
    // 2 Unpack on stream 2 waits for the gather, 3 Forward follows: [41, 100) again, then the Unpack's
    // own 20.
    plan.instructions.push_back(plan.instructions[2]);
    plan.instructions[2] = hand_made_instruction(InstructionKind::Unpack, 2, {{1}});
    plan.instructions[3].waits = {{2}};
    rank.spans[2] = hand_made_span(2, 41, 101, 101, 121);
    rank.spans.push_back(hand_made_span(3, 122, 122, 122, 200));
    CHECK(exposed_communication(plan, rank) == Nanoseconds{59});
  }
}

TEST_CASE("a collective on the compute stream is exposed") {
  StepPlan plan = hand_made_plan();
  plan.instructions = {hand_made_instruction(InstructionKind::GradientNorms, 0, {}),
                       hand_made_instruction(InstructionKind::AllReduce, 0, {}),
                       hand_made_instruction(InstructionKind::ClipGradients, 0, {})};
  RankTrace rank;
  rank.spans = {hand_made_span(0, 0, 0, 0, 10), hand_made_span(1, 11, 11, 12, 40),
                hand_made_span(2, 41, 41, 41, 60)};
  CHECK(exposed_communication(plan, rank) == Nanoseconds{28});  // [12, 40)
}

TEST_CASE("a host that waits for a collective explains only what it has not issued yet") {
  // Forward was issued at 10 and starts late for no reason the plan knows; the host stands in instruction 4
  // meanwhile.
  StepPlan plan = hand_made_plan();
  plan.instructions[1].waits.clear();
  CHECK(exposed_communication(plan, hand_made_rank()) == Nanoseconds{50});  // [400, 450)
}

TEST_CASE("what was skipped or not recorded takes no part") {
  RankTrace rank = hand_made_rank();
  rank.spans[3].skipped = true;
  rank.spans[0].skipped = true;
  CHECK(exposed_communication(hand_made_plan(), rank) == Nanoseconds{0});
  CHECK(exposed_communication(hand_made_plan(), RankTrace{}) == Nanoseconds{0});
}

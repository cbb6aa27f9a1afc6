// States of ranks at given instants of small steps, reckoned by hand.
//
// The model has two units: the root with 256 x 64 in the embedding, 64 in the norm and 64 x 256 in the head,
// 32,832 parameters, and a layer, u0, with 46,208. On two ranks in float32 the root's gathered side has
// 131,328 bytes and that of u0 184,832; half of it is a shard.
#include "gui/view_model/player/rank_board.h"

#include "gui/view_model/player/content_words.h"
#include "tests/unit/gui_view_model/played_step.h"

using namespace shardlab;
using namespace shardlab::test;
using namespace shardlab::view;
using K = InstructionKind;

namespace {

PlayedStep two_units(std::vector<std::string> settings = {}) {
  settings.push_back("model.overrides.num_hidden_layers=1");
  return played_step(settings);
}

}  // namespace

TEST_CASE("fsdp2: before the all-gather a rank has its own half of the unit, and the other's arrives") {
  const PlayedStep step = two_units();
  BoardFrame frame = step.frame(step.find(K::Copy, "root"), 0.5);
  REQUIRE(frame.lanes.size() == 2);
  CHECK(frame.flows.empty());
  CHECK(frame.sent == Bytes{});
  CHECK(frame.sent_in_step == Bytes{2 * 131'328 + 3 * 184'832});  // the root is gathered once, u0 twice
  for (std::size_t lane = 0; lane < 2; ++lane) {
    const int own = static_cast<int>(lane);
    CHECK(content_of(step, frame, lane, "shard.root") == BufferContent{});
    CHECK(content_of(step, frame, lane, "gathered.root") ==
          BufferContent{.parts = 2, .own = own, .own_there = 0.5, .others_there = 0});
  }
  const InstructionId gather = step.find(K::AllGather, "root");
  frame = step.frame(gather, 0.25);
  CHECK(frame.moving == Bytes{131'328});
  CHECK(frame.moved == Bytes{2 * 16'416});
  REQUIRE(frame.flows.size() == 2);
  CHECK(frame.flows[0].move == LaneMove{.from = 0, .to = 1, .part = 0, .bytes = Bytes{65'664}});
  CHECK(frame.flows[1].move == LaneMove{.from = 1, .to = 0, .part = 1, .bytes = Bytes{65'664}});
  for (std::size_t lane = 0; lane < 2; ++lane) {
    CHECK(frame.lanes[lane].sent == Bytes{16'416});
    CHECK(content_of(step, frame, lane, "gathered.root") ==
          BufferContent{.parts = 2, .own = static_cast<int>(lane), .own_there = 1, .others_there = 0.25});
  }
  frame = step.frame(gather, 1);
  CHECK(frame.sent == Bytes{131'328});
  CHECK(content_of(step, frame, 1, "gathered.root").others_there == 1);
}

TEST_CASE("fsdp2: gradients are the rank's own until the reduce-scatter, and their shard is a sum") {
  const PlayedStep step = two_units();
  const InstructionId reduce = step.find(K::ReduceScatter, "u0");
  const BoardFrame frame = step.frame(reduce, 0.5);
  // Gathered so far: the root once, u0 twice; half of u0's gradients.
  CHECK(frame.sent == Bytes{131'328 + 2 * 184'832 + 92'416});
  CHECK(frame.lanes[0].sent == frame.lanes[1].sent);
  REQUIRE(frame.flows.size() == 2);
  CHECK(frame.flows[0].move == LaneMove{.from = 0, .to = 1, .part = 1, .bytes = Bytes{92'416}, .adds = true});
  for (std::size_t lane = 0; lane < 2; ++lane) {
    CHECK(content_of(step, frame, lane, "rsin.u0") ==
          BufferContent{.parts = 2, .own = static_cast<int>(lane), .summed_ranks = 1});
    CHECK(content_of(step, frame, lane, "gshard.u0") == BufferContent{.own_there = 0.5,
                                                                      .others_there = 0.5,
                                                                      .summed_ranks = 2,
                                                                      .own_summed = 0.5,
                                                                      .others_summed = 0.5});
    CHECK(content_of(step, frame, lane, "exp_avg.u0") == BufferContent{});
  }
  const BoardFrame later = step.frame(step.find(K::ReduceScatter, "root"), 1);
  CHECK(content_of(step, later, 0, "gshard.u0") ==
        BufferContent{.summed_ranks = 2, .own_summed = 1, .others_summed = 1});
  CHECK(later.lanes[0].sent == Bytes{131'328 + 3 * 92'416});
  CHECK(later.sent == later.sent_in_step);
}

TEST_CASE("ddp: an all-reduce adds up every rank's part first, and hands the sums round afterwards") {
  const PlayedStep step = two_units({"parallel.strategy=ddp"});
  StepPlayer player(step.plan());
  while (step.plan().instructions[player.position()].kind != K::AllReduce) player.step_forward();
  const auto reduce = make_id<InstructionId>(player.position());
  const Instruction& instruction = step.instruction(reduce);
  const std::string bucket = step.plan().buffer(instruction.writes.front()).name;
  const BufferContent first = content_of(step, step.frame(reduce, 0.25), 1, bucket);
  CHECK(first ==
        BufferContent{.parts = 2, .own = 1, .summed_ranks = 2, .own_summed = 0.5, .others_summed = 0});
  const BoardFrame frame = step.frame(reduce, 0.75);
  CHECK(frame.moving == 2 * instruction.bytes);
  CHECK(frame.moved == frame.moving * 3 / 4);
  const BufferContent second = content_of(step, frame, 1, bucket);
  CHECK(second.own_summed == 1);
  CHECK(second.others_summed == 0.5);
  const BufferContent before =
      content_of(step, step.frame(make_id<InstructionId>(reduce.index() - 1), 1), 1, bucket);
  CHECK(before.summed_ranks == 1);
}

TEST_CASE("zero2, owner by owner: a sum is on the rank that owns it, and nowhere else") {
  const PlayedStep step = two_units({"parallel.strategy=zero2", "precision.param=bfloat16",
                                     "parallel.zero={reduce_bucket_size: 30000, "
                                     "use_multi_rank_bucket_allreduce: false}"});
  const InstructionId reduce = step.find(K::Reduce, "root");
  const Instruction& instruction = step.instruction(reduce);
  REQUIRE(instruction.root == 1);
  const BoardFrame frame = step.frame(reduce, 0.5);
  REQUIRE(frame.flows.size() == 1);
  CHECK(frame.flows[0].move == LaneMove{.from = 0, .to = 1, .bytes = instruction.bytes, .adds = true});
  CHECK(frame.lanes[0].sent - step.board->moves().sent_before(reduce.index(), 0) == instruction.bytes / 2);
  CHECK(frame.lanes[1].sent == step.board->moves().sent_before(reduce.index(), 1));
  const std::string bucket = step.plan().buffer(instruction.writes.front()).name;
  CHECK(content_of(step, frame, 0, bucket).summed_ranks == 1);
  CHECK(content_of(step, frame, 1, bucket).summed_ranks == 2);
  CHECK(content_of(step, frame, 1, bucket).own_summed == 0.5);
}

TEST_CASE("a hybrid mesh adds gradients up over the shards first and then over the replicas") {
  const PlayedStep step = two_units({"cluster.ranks=4", "parallel.mesh.replicate=2"});
  BoardFrame frame = step.frame(step.find(K::ReduceScatter, "u0"), 1);
  CHECK(content_of(step, frame, 3, "gshard.u0").summed_ranks == 2);
  // Ranks 0 and 1 are one replica, 2 and 3 the other: nothing moves between these.
  for (const LaneFlow& flow : frame.flows) CHECK(flow.move.from / 2 == flow.move.to / 2);
  const InstructionId across = step.find(K::AllReduce, "u0");
  const std::string sum = step.plan().buffer(step.instruction(across).writes.front()).name;
  CHECK(content_in_words(content_of(step, step.frame(across, 0), 3, sum)) ==
        "gradients added up over 2 ranks");
  frame = step.frame(across, 1);
  for (const LaneFlow& flow : frame.flows) CHECK(flow.move.from % 2 == flow.move.to % 2);
  CHECK(content_of(step, frame, 3, sum).summed_ranks == 4);
}

TEST_CASE("a reduce-scatter in place leaves a rank its own part") {
  const PlayedStep step = two_units({"parallel.strategy=zero3", "precision.param=bfloat16"});
  const InstructionId reduce = step.find(K::ReduceScatter, "root");
  const std::string bucket = step.plan().buffer(step.instruction(reduce).writes.front()).name;
  CHECK(content_of(step, step.frame(reduce, 0.25), 1, bucket) ==
        BufferContent{.parts = 2, .own = 1, .others_there = 0.75, .summed_ranks = 2, .own_summed = 0.25});
  CHECK(content_of(step, step.frame(reduce, 1), 1, bucket).others_there == 0);
}

TEST_CASE("folded ranks have no boxes, and send like the others") {
  const PlayedStep step = two_units({"cluster.ranks=12"});
  const BoardFrame frame = step.frame(step.find(K::AllGather, "root"), 1);
  REQUIRE(frame.lanes.size() == 9);
  CHECK(frame.lanes.back().contents.empty());
  CHECK(frame.lanes.back().lane.folded);
  CHECK(frame.lanes.back().sent == frame.lanes[0].sent * 4);
}

TEST_CASE("one rank alone has a lane, nothing moves, and an empty plan shows nothing") {
  const PlayedStep step = two_units({"cluster.ranks=1", "parallel.strategy=none"});
  const BoardFrame frame = step.frame(InstructionId{0}, 1);
  CHECK(frame.lanes.size() == 1);
  CHECK(frame.sent_in_step == Bytes{});
  const StepPlan nothing;
  const RankBoard board(nothing, step.planned.scenario);
  CHECK(board.frame(StepPlayer(nothing)).buffers.buffers.empty());
}

TEST_CASE("a block says in words what the rank has of it") {
  CHECK(content_in_words({}) == "");
  CHECK(content_in_words({.parts = 2, .others_there = 0}) == "its own part, 1 of 2, alone");
  CHECK(content_in_words({.parts = 4, .others_there = 0.25}) ==
        "its own part, 1 of 4, and 25.0 % of the others'");
  CHECK(content_in_words({.summed_ranks = 1}) == "gradients of this rank alone");
  CHECK(content_in_words({.summed_ranks = 4, .own_summed = 1, .others_summed = 1}) ==
        "gradients added up over 4 ranks");
  CHECK(content_in_words({.parts = 2, .summed_ranks = 2, .own_summed = 1, .others_summed = 0.5}) ==
        "gradients added up over 2 ranks: 75.0 % so far");
  CHECK(content_in_words({.parts = 2, .others_there = 0, .summed_ranks = 2, .own_summed = 1}) ==
        "its own part, 1 of 2, alone; gradients added up over 2 ranks");
  Buffer buffer;
  buffer.elements = 46'208;
  CHECK(size_in_words(buffer) == "180 KiB: 46,208 elements of float32");
  buffer.dtype = DType::uint8;
  buffer.saved_by = SegmentId{0};
  CHECK(size_in_words(buffer) == "45.1 KiB of several dtypes");
}

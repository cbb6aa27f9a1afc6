// The bytes that the step player shows moving are those that reports count (sent_bytes(), plan/unit_sizes.h).
#include <fstream>
#include <map>
#include <sstream>

#include "engine/pictures/rank_moves.h"
#include "engine/plan/unit_sizes.h"
#include "tests/unit/gui_view_model/played_step.h"

using namespace shardlab;
using namespace shardlab::test;
using namespace shardlab::view;

namespace {

struct TrafficCase {
  std::string name;
  std::vector<std::string> settings;
};

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<TrafficCase> traffic_cases() {
  std::vector<TrafficCase> cases;
  std::ifstream file(data_file("player/traffic.txt"));
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream parts(line);
    cases.emplace_back();
    for (std::string part; std::getline(parts, part, '|');) {
      if (cases.back().name.empty())
        cases.back().name = trimmed(part);
      else
        cases.back().settings.push_back(trimmed(part));
    }
  }
  return cases;
}

// What the report of the step's prediction says that all ranks sent.
Bytes reported(const PlannedScenario& planned) {
  const auto device = resolve_device(*planned.scenario.cluster);
  REQUIRE_OK(device);
  auto trace = simulate({planned, *device});
  REQUIRE_OK(trace);
  Bytes sent;
  const auto run = loaded(1, planned, *std::move(trace));
  for (const CommunicationTotal& each : run->record.summary.communication) sent += each.sent;
  return sent;
}

using BytesOfLanes = std::map<std::pair<int, int>, Bytes>;  // from, to

// The moves of all ranks, one by one, as lanes would show them.
BytesOfLanes moves_by_ranks(const PlayedStep& step, InstructionId id) {
  const auto lane = [](int rank) { return std::min(rank, k_ranks_with_a_lane); };
  BytesOfLanes sums;
  for (const RankMove& move : rank_moves(step.plan(), id, step.planned.scenario))
    sums[{lane(move.from), lane(move.to)}] += move.bytes;
  std::erase_if(sums, [](const auto& entry) { return entry.second == Bytes{}; });
  return sums;
}

BytesOfLanes moves_by_lanes(const PlayedStep& step, InstructionId id) {
  BytesOfLanes sums;
  for (const LaneMove& move : step.board->moves().of(step.instruction(id)))
    sums[{move.from, move.to}] += move.bytes;
  std::erase_if(sums, [](const auto& entry) { return entry.second == Bytes{}; });
  return sums;
}

}  // namespace

TEST_CASE("what is shown moving in a step adds up to what the report says that its collectives carry") {
  const std::vector<TrafficCase> cases = traffic_cases();
  REQUIRE(cases.size() > 15);
  for (const TrafficCase& each : cases) {
    INFO(each.name);
    const PlayedStep step = played_step(each.settings);
    StepPlayer player(step.plan());
    player.set_speed(1);
    player.play();
    Bytes shown, before;
    std::size_t at = 0;
    while (player.playing()) {
      player.advance(0.37);
      const BoardFrame frame = step.board->frame(player);
      // The rest of an instruction that the player left in between.
      if (player.position() != at) {
        for (; at < player.position(); ++at)
          for (const LaneMove& move : step.board->moves().of(step.plan().instructions[at]))
            shown += move.bytes;
        shown -= before;
        before = {};
      }
      CHECK(frame.moved >= before);
      shown += frame.moved - before;
      before = frame.moved;
      CHECK(frame.sent == shown);
    }
    CHECK(shown == reported(step.planned));
    CHECK(shown == step.board->moves().sent_in_step());
    Bytes of_lanes;
    for (const LaneState& lane : step.board->frame(player).lanes) of_lanes += lane.sent;
    CHECK(of_lanes == shown);
  }
}

TEST_CASE("lanes show what the ranks in them send each other, also where many are folded into one") {
  for (const TrafficCase& each : traffic_cases()) {
    INFO(each.name);
    const PlayedStep step = played_step(each.settings);
    for (std::size_t i = 0; i < step.plan().instructions.size(); ++i) {
      const auto id = make_id<InstructionId>(i);
      INFO(instruction_label(step.plan(), id));
      CHECK(moves_by_lanes(step, id) == moves_by_ranks(step, id));
    }
  }
}

TEST_CASE("each of W ranks sends (W - 1) / W of an all-gather's full side, and all-reduce twice that") {
  const PlayedStep gathered = played_step({"cluster.ranks=4"});
  BoardFrame frame = gathered.frame(gathered.find(InstructionKind::AllGather, "root"), 1);
  for (const LaneState& lane : frame.lanes) CHECK(lane.sent * 4 == frame.moving);
  CHECK(frame.moving == 3 * gathered.instruction(gathered.find(InstructionKind::AllGather, "root")).bytes);
  const PlayedStep reduced = played_step({"cluster.ranks=4", "parallel.strategy=ddp"});
  CHECK(reduced.board->moves().sent_in_step() > Bytes{});
  for (const Instruction& each : reduced.plan().instructions) {
    if (each.kind != InstructionKind::AllReduce) continue;
    Bytes sum;
    for (const LaneMove& move : reduced.board->moves().of(each)) sum += move.bytes;
    CHECK(sum == 2 * 3 * each.bytes);
  }
}

TEST_CASE("eight ranks have lanes of their own, and more are folded into one") {
  CHECK(rank_lanes(1) == std::vector<RankLane>{{0, 0}});
  CHECK(rank_lanes(8).size() == 8);
  CHECK_FALSE(rank_lanes(8).back().folded);
  REQUIRE(rank_lanes(64).size() == 9);
  CHECK(title_of(rank_lanes(64).front()) == "rank 0");
  CHECK(title_of(rank_lanes(64).back()) == "ranks 8 to 63 alike");
  CHECK(rank_lanes(64).back().ranks() == 56);
  CHECK(title_of(rank_lanes(9).back()) == "rank 8 alike");
}

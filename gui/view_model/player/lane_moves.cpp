#include "gui/view_model/player/lane_moves.h"

#include <algorithm>
#include <cmath>

#include "engine/pictures/rank_moves.h"
#include "engine/plan/unit_sizes.h"

namespace shardlab::view {
namespace {

// One stage of a collective in one set of ranks.
class StageMoves {
 public:
  StageMoves(const LaneSet& set, Bytes whole, int folded_lane, int stage, std::vector<LaneMove>& moves)
      : set_(set), whole_(whole), folded_lane_(folded_lane), stage_(stage), moves_(moves) {}

  // Everybody sends its own part to all others.
  void gather() {
    for (const LanePlace& from : set_.members) {
      for (const LanePlace& to : set_.members) add(from.lane, to.lane, from.place, part(from));
      add(from.lane, folded_lane_, from.place, part(from) * set_.folded());
    }
    for (const LanePlace& to : set_.members) add(folded_lane_, to.lane, {}, parts_of_folded());
  }
  // Everybody sends the parts of all others to those that own them.
  void scatter(bool adds) {
    adds_ = adds;
    for (const LanePlace& from : set_.members) {
      for (const LanePlace& to : set_.members) add(from.lane, to.lane, to.place, part(to));
      add(from.lane, folded_lane_, {}, parts_of_folded());
    }
    for (const LanePlace& to : set_.members) add(folded_lane_, to.lane, to.place, part(to) * set_.folded());
  }
  void from_root(int root) {
    const int lane = lane_of(root);
    for (const LanePlace& to : set_.members) add(lane, to.lane, {}, whole_);
    if (lane != folded_lane_) add(lane, folded_lane_, {}, whole_ * set_.folded());
  }
  void to_root(int root) {
    adds_ = true;
    const int lane = lane_of(root);
    for (const LanePlace& from : set_.members) add(from.lane, lane, {}, whole_);
    if (lane != folded_lane_) add(folded_lane_, lane, {}, whole_ * set_.folded());
  }

 private:
  Bytes part(const LanePlace& of) const { return part_of_collective(whole_, of.place, set_.ranks); }
  Bytes parts_of_folded() const {
    Bytes rest = whole_;
    for (const LanePlace& each : set_.members) rest -= part(each);
    return rest;
  }
  int lane_of(int place) const {
    for (const LanePlace& each : set_.members) {
      if (each.place == place) return each.lane;
    }
    return folded_lane_;
  }
  void add(int from, int to, std::optional<int> part, Bytes bytes) {
    const bool nobody = (from == folded_lane_ || to == folded_lane_) && set_.folded() == 0;
    if (from != to && !nobody) moves_.push_back({from, to, stage_, part, bytes, adds_});
  }

  const LaneSet& set_;
  Bytes whole_;
  int folded_lane_, stage_;
  bool adds_ = false;
  std::vector<LaneMove>& moves_;
};

}  // namespace

int stages_of(InstructionKind kind) {
  return kind == InstructionKind::AllReduce ? 2 : 1;
}

double stage_progress(InstructionKind kind, int stage, double progress) {
  return std::clamp(progress * stages_of(kind) - stage, 0.0, 1.0);
}

Bytes arrived(const LaneMove& move, InstructionKind kind, double progress) {
  const double done = stage_progress(kind, move.stage, progress);
  if (done >= 1) return move.bytes;
  return Bytes{saturated_round(std::floor(static_cast<double>(move.bytes.value) * done))};
}

LaneMoves::LaneMoves(const StepPlan& plan, const Scenario& scenario)
    : plan_(&plan), lanes_(rank_lanes(plan.world_size)) {
  for (const Group& group : plan.groups) sets_.push_back(lane_sets(group, scenario, lanes_));
  sent_.assign(lanes_.size(), {Bytes{}});
  for (const Instruction& instruction : plan.instructions) {
    for (std::vector<Bytes>& sent : sent_) sent.push_back(sent.back());
    for (const LaneMove& move : of(instruction))
      sent_[static_cast<std::size_t>(move.from)].back() += move.bytes;
    sent_in_step_ += sent_bytes(plan, instruction);
  }
}

std::optional<int> LaneMoves::place_in(GroupId group, int lane) const {
  for (const LaneSet& set : sets_of(group)) {
    if (const auto place = set.place_of(lane)) return place;
  }
  return std::nullopt;
}

void LaneMoves::add_stage(const Instruction& instruction, const LaneSet& set, int stage,
                          std::vector<LaneMove>& moves) const {
  StageMoves made(set, instruction.bytes, k_ranks_with_a_lane, stage, moves);
  switch (instruction.kind) {
    case InstructionKind::AllGather: made.gather(); break;
    case InstructionKind::ReduceScatter: made.scatter(true); break;
    case InstructionKind::AllReduce: stage == 0 ? made.scatter(true) : made.gather(); break;
    case InstructionKind::Broadcast: made.from_root(instruction.root); break;
    case InstructionKind::Reduce: made.to_root(instruction.root); break;
    case InstructionKind::AllToAll: made.scatter(false); break;
    default: break;
  }
}

std::vector<LaneMove> LaneMoves::of(const Instruction& instruction) const {
  std::vector<LaneMove> moves;
  if (!is_collective(instruction.kind) || !instruction.group) return moves;
  const int stages = stages_of(instruction.kind);
  for (int stage = 0; stage < stages; ++stage) {
    const auto begin = static_cast<std::ptrdiff_t>(moves.size());
    for (const LaneSet& set : sets_of(*instruction.group)) add_stage(instruction, set, stage, moves);
    if (!lanes_.back().folded) continue;
    Bytes rest = sent_bytes(*plan_, instruction) / stages;
    std::for_each(moves.begin() + begin, moves.end(), [&](const LaneMove& move) { rest -= move.bytes; });
    const bool adds = instruction.kind != InstructionKind::AllGather && stage == 0 &&
                      instruction.reduce != ReduceOperation::none;
    if (rest.value > 0) moves.push_back({k_ranks_with_a_lane, k_ranks_with_a_lane, stage, {}, rest, adds});
  }
  return moves;
}

}  // namespace shardlab::view

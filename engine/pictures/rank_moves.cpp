#include "engine/pictures/rank_moves.h"

#include <algorithm>

#include "engine/plan/group_ranks.h"

namespace shardlab {
namespace {

struct MoveMaker {
  const std::vector<int>& ranks;
  Bytes whole;
  int root;  // place in `ranks`
  std::vector<RankMove>& moves;

  int size() const { return static_cast<int>(ranks.size()); }
  int rank(int i) const { return ranks[static_cast<std::size_t>(i)]; }

  template <typename Visit>
  void pairs(const Visit& visit) const {
    for (int i = 0; i < size(); ++i) {
      for (int j = 0; j < size(); ++j) {
        if (i != j) visit(i, j);
      }
    }
  }
  void gather(int stage) const {
    pairs([&](int i, int j) {
      moves.push_back({rank(i), rank(j), i, stage, part_of_collective(whole, i, size()), false});
    });
  }
  void scatter(int stage, bool adds) const {
    pairs([&](int i, int j) {
      moves.push_back({rank(i), rank(j), j, stage, part_of_collective(whole, j, size()), adds});
    });
  }
  template <typename Visit>
  void others(const Visit& visit) const {
    for (int i = 0; i < size(); ++i) {
      if (i != root) visit(i);
    }
  }
  void from_root() const {
    others([&](int j) { moves.push_back({rank(root), rank(j), 0, 0, whole, false}); });
  }
  void to_root() const {
    others([&](int i) { moves.push_back({rank(i), rank(root), 0, 0, whole, true}); });
  }

  void make(InstructionKind kind) const {
    switch (kind) {
      case InstructionKind::AllGather: gather(0); break;
      case InstructionKind::ReduceScatter: scatter(0, true); break;
      case InstructionKind::AllReduce:
        scatter(0, true);
        gather(1);
        break;
      case InstructionKind::Broadcast: from_root(); break;
      case InstructionKind::Reduce: to_root(); break;
      case InstructionKind::AllToAll: scatter(0, false); break;
      default: break;
    }
  }
};

}  // namespace

Bytes part_of_collective(Bytes whole, int place, int ranks) {
  // Divided first: a large size times a place may be more than an integer holds.
  const std::int64_t each = whole.value / ranks, rest = whole.value % ranks;
  return Bytes{each + rest * (place + 1) / ranks - rest * place / ranks};
}

std::vector<RankMove> rank_moves(const StepPlan& plan, InstructionId id, const Scenario& scenario) {
  std::vector<RankMove> moves;
  const Instruction& instruction = plan.instruction(id);
  if (!is_collective(instruction.kind) || !instruction.group) return moves;
  const Group& group = plan.groups[instruction.group->index()];
  for (int rank = 0; rank < world_size(scenario); ++rank) {
    const std::vector<int> ranks = ranks_of_group(group, scenario, rank);
    // Each group once, for its first rank.
    if (ranks.empty() || ranks.front() != rank) continue;
    MoveMaker{ranks, instruction.bytes, instruction.root, moves}.make(instruction.kind);
  }
  return moves;
}

Bytes moved_bytes(const std::vector<RankMove>& moves) {
  Bytes sum;
  for (const RankMove& move : moves) sum += move.bytes;
  return sum;
}

}  // namespace shardlab

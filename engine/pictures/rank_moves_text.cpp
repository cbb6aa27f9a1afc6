#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "engine/pictures/rank_moves.h"
#include "engine/plan/group_ranks.h"

namespace shardlab {
namespace {

struct Marks {
  std::string before, after;
};

// A mark for each part of the whole; `place` is the rank's in its group.
Marks marks_of(const Instruction& instruction, std::size_t size, std::size_t place) {
  const bool is_root = place == static_cast<std::size_t>(instruction.root);
  const std::string none(size, '.'), whole(size, '#'), open(size, '+');
  std::string own = none;
  own[place] = '#';
  switch (instruction.kind) {
    case InstructionKind::AllGather: return {own, whole};
    case InstructionKind::ReduceScatter: return {open, own};
    case InstructionKind::AllReduce: return {open, whole};
    case InstructionKind::Broadcast: return {is_root ? whole : none, whole};
    case InstructionKind::Reduce: return {open, is_root ? whole : none};
    default: return {open, whole};
  }
}

}  // namespace

std::string rank_moves_text(const StepPlan& plan, InstructionId id, const Scenario& scenario, int most) {
  const std::vector<RankMove> moves = rank_moves(plan, id, scenario);
  if (moves.empty()) return "  nothing moves between ranks\n";
  const Instruction& instruction = plan.instruction(id);
  const Group& group = plan.groups[instruction.group->index()];
  std::map<int, Bytes> out, in;
  for (const RankMove& move : moves) {
    out[move.from] += move.bytes;
    in[move.to] += move.bytes;
  }
  const int ranks = world_size(scenario), shown = std::min(ranks, most);
  bool is_even = true;
  for (int rank = 0; rank < shown; ++rank) is_even = is_even && out[rank] == out[0] && in[rank] == out[0];
  std::string text =
      fmt::format("  {}, {} in all\n", instruction_label(plan, id), to_string(instruction.bytes));
  for (int rank = 0; rank < shown; ++rank) {
    const std::vector<int> members = ranks_of_group(group, scenario, rank);
    const auto place =
        static_cast<std::size_t>(std::find(members.begin(), members.end(), rank) - members.begin());
    const Marks marks = marks_of(instruction, members.size(), place);
    text += fmt::format("    rank {}  [{}] -> [{}]", rank, marks.before, marks.after);
    if (!is_even)
      text += fmt::format("   sends {:>9}, receives {:>9}", to_string(out[rank]), to_string(in[rank]));
    text += "\n";
  }
  if (is_even) text += fmt::format("    each sends and receives {}\n", to_string(out[0]));
  if (ranks > most) text += fmt::format("    and {} more ranks likewise\n", ranks - most);
  const bool reduces =
      std::any_of(moves.begin(), moves.end(), [](const RankMove& move) { return move.adds; });
  return text + fmt::format("    a mark is 1/{} of it: # there, . not there\n{}", group.size,
                            reduces ? "    + there, not yet added up over the ranks\n" : "");
}

}  // namespace shardlab

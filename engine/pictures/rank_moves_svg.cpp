#include <algorithm>

#include <fmt/format.h>

#include "engine/pictures/rank_moves.h"
#include "engine/pictures/svg.h"
#include "engine/plan/group_ranks.h"

namespace shardlab {
namespace {

constexpr double k_moves_width = 900, k_above_ranks = 30, k_row = 46, k_label = 80, k_box = 34, k_apart = 320;

enum class Part : std::uint8_t { absent, open, there };

const char* colour_of_part(Part part) {
  if (part == Part::there) return "#59a14f";
  return part == Part::open ? "#e15759" : "#e8e8ec";
}

// What a rank has of part `i` before or after.
Part part_at(const Instruction& instruction, std::size_t i, std::size_t place, bool after) {
  const bool is_root = place == static_cast<std::size_t>(instruction.root);
  switch (instruction.kind) {
    case InstructionKind::AllGather: return after || i == place ? Part::there : Part::absent;
    case InstructionKind::ReduceScatter: return !after ? Part::open : i == place ? Part::there : Part::absent;
    case InstructionKind::Broadcast: return after || is_root ? Part::there : Part::absent;
    case InstructionKind::Reduce: return !after ? Part::open : is_root ? Part::there : Part::absent;
    default: return after ? Part::there : Part::open;
  }
}

std::string boxes(const Instruction& instruction, std::size_t size, std::size_t place, bool after, double x,
                  double y) {
  std::string svg;
  const double wide = std::min(k_box, 160.0 / static_cast<double>(size));
  for (std::size_t i = 0; i < size; ++i)
    svg += svg_rect({x + wide * static_cast<double>(i), y, wide - 2, k_box - 8},
                    colour_of_part(part_at(instruction, i, place, after)));
  return svg;
}

}  // namespace

std::string rank_moves_svg(const StepPlan& plan, InstructionId id, const Scenario& scenario,
                           const std::string& title, int most) {
  const std::vector<RankMove> moves = rank_moves(plan, id, scenario);
  if (moves.empty())
    return svg_document(k_moves_width, 40, title, svg_text(10, 25, "nothing moves between ranks"));
  const Instruction& instruction = plan.instruction(id);
  const Group& group = plan.groups[instruction.group->index()];
  const int ranks = std::min(world_size(scenario), most);
  const double right = k_label + k_apart;
  const auto y = [](int rank) { return k_above_ranks + 18 + k_row * rank; };
  std::string svg = svg_text(k_label, 15, title) + svg_text(k_label, k_above_ranks + 8, "before") +
                    svg_text(right, k_above_ranks + 8, "after");
  for (const RankMove& move : moves) {
    if (move.from < ranks && move.to < ranks && move.stage == 0)
      svg += svg_arrow(k_label + 170, y(move.from) + k_box / 2 - 4, right - 8, y(move.to) + k_box / 2 - 4,
                       "#8a8a92");
  }
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<int> members = ranks_of_group(group, scenario, rank);
    const auto place =
        static_cast<std::size_t>(std::find(members.begin(), members.end(), rank) - members.begin());
    Bytes out, in;
    for (const RankMove& move : moves) {
      if (move.from == rank) out += move.bytes;
      if (move.to == rank) in += move.bytes;
    }
    svg += svg_text(k_label - 10, y(rank) + 18, fmt::format("rank {}", rank), "end");
    svg += boxes(instruction, members.size(), place, false, k_label, y(rank));
    svg += boxes(instruction, members.size(), place, true, right, y(rank));
    svg += svg_text(right + 180, y(rank) + 18,
                    fmt::format("sends {}, receives {}", to_string(out), to_string(in)));
  }
  const double below = y(ranks) + 8;
  svg += svg_rect({k_label, below, 12, 12}, colour_of_part(Part::there)) +
         svg_text(k_label + 18, below + 11, "there") +
         svg_rect({k_label + 70, below, 12, 12}, colour_of_part(Part::open)) +
         svg_text(k_label + 88, below + 11, "not yet added up over the ranks") +
         svg_text(right + 180, below + 11, fmt::format("all ranks send {}", to_string(moved_bytes(moves))));
  return svg_document(k_moves_width, below + 30, title, svg);
}

}  // namespace shardlab

#include "engine/report/explain_time/path_rows.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "engine/plan/transfers.h"

namespace shardlab {
namespace {

PathPart part_of(const StepPlan& plan, const PathPiece& piece) {
  if (!piece.instruction) return PathPart::host;
  const Instruction& self = plan.instruction(*piece.instruction);
  if (is_collective(self.kind)) {
    const bool alone = self.group && plan.groups[self.group->index()].size == 1;
    return alone ? PathPart::computation : PathPart::communication;
  }
  if (runs_on_host(plan, self)) return PathPart::host;
  return transfer_of(plan, self) ? PathPart::transfer : PathPart::computation;
}

// Pieces with the same key differ in layer, part and micro-batch alone.
using Key = std::tuple<PathPart, std::string>;

Key key_of(const StepPlan& plan, const PlanWords& words, const PathPiece& piece) {
  const PathPart part = part_of(plan, piece);
  if (!piece.instruction) return {part, ""};
  const auto place = words.place(*piece.instruction);
  return {part, words.instructions(*piece.instruction, place && place->layer ? 2 : 1)};
}

struct Sum {
  PathRow row;
  std::set<int> layers;
};

void add(Sum& sum, PathPart part, const PlanWords& words, const std::vector<PathPiece>& path,
         std::size_t at) {
  const PathPiece& piece = path[at];
  const Nanoseconds time = piece.when.end - piece.when.begin;
  const InstructionId id = piece.instruction ? *piece.instruction : *piece.issued;
  if (piece.instruction) {
    if (const auto place = words.place(id); place && place->layer) sum.layers.insert(*place->layer);
  }
  sum.row.part = part;
  sum.row.time += time;
  ++sum.row.pieces;
  if (time <= sum.row.longest_time) return;
  sum.row.longest_time = time;
  sum.row.longest = id;
  if (part != PathPart::communication) return;
  sum.row.after = at == 0                     ? "the beginning of the step"
                  : !path[at - 1].instruction ? "its launch by the host"
                                              : words.instruction(*path[at - 1].instruction);
}

std::string words_of(const PlanWords& words, const Key& key, const Sum& sum) {
  if (std::get<std::string>(key).empty()) return "work of the host alone: launches, hooks";
  return words.instructions(sum.row.longest, static_cast<int>(sum.layers.size()));
}

}  // namespace

std::vector<PathRow> path_rows(const StepPlan& plan, const PlanWords& words,
                               const std::vector<PathPiece>& path) {
  std::map<Key, Sum> sums;
  for (std::size_t i = 0; i < path.size(); ++i)
    add(sums[key_of(plan, words, path[i])], part_of(plan, path[i]), words, path, i);
  std::vector<PathRow> rows;
  for (auto& [key, sum] : sums) {
    sum.row.what = words_of(words, key, sum);
    rows.push_back(std::move(sum.row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const PathRow& a, const PathRow& b) { return a.time > b.time; });
  return rows;
}

}  // namespace shardlab

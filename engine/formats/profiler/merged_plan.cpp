#include "engine/formats/profiler/merged_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "engine/formats/profiler/import_profile.h"
#include "engine/plan/imported_plan.h"

namespace shardlab {
namespace {

constexpr Nanoseconds k_least_gap{500};  // shorter ones are the device's own

// What is the same in every step and rank.
using Key =
    std::tuple<std::uint32_t, InstructionKind, std::uint32_t, std::uint32_t>;  // lane, kind, name, nth

struct Draft {
  Instruction instruction;
  Nanoseconds issue, start;  // where it was seen first
};

// Positions of names in a list that grows.
class Names {
 public:
  std::uint32_t of(const std::string& name) {
    const auto [found, added] = places_.try_emplace(name, static_cast<std::uint32_t>(list_.size()));
    if (added) list_.push_back(name);
    return found->second;
  }
  const std::vector<std::string>& list() const { return list_; }

 private:
  std::map<std::string, std::uint32_t> places_;
  std::vector<std::string> list_;
};

class Merger {
 public:
  Merger(const std::vector<ProfiledRank>& ranks, int world_size) : ranks_(ranks) {
    merged_.plan.phase = PlanPhase::steady;
    merged_.plan.strategy = std::string(k_imported_strategy);
    merged_.plan.graph_hash = std::string(k_imported_graph);
    merged_.plan.world_size = world_size;
    merged_.plan.passes = {"imported"};
  }

  MergedPlan merge() {
    for (const ProfiledRank& rank : ranks_) {
      auto& of_rank = merged_.instructions.emplace_back();
      for (const ProfiledStep& step : rank.steps) of_rank.push_back(add_step(rank, step));
    }
    for (const std::string& lane : lanes_.list()) merged_.plan.streams.push_back({lane});
    put_in_order();
    infer_waits();
    return std::move(merged_);
  }

 private:
  std::vector<InstructionId> add_step(const ProfiledRank& rank, const ProfiledStep& step) {
    std::vector<InstructionId> ids;
    std::map<std::tuple<std::uint32_t, InstructionKind, std::uint32_t>, std::uint32_t> counts;
    for (const ProfiledWork& work : step.work) {
      const std::uint32_t lane = lanes_.of(rank.lanes[work.lane]), unit = unit_of(rank, work);
      const Key key{lane, work.kind, unit, counts[{lane, work.kind, unit}]++};
      const auto [found, added] = known_.try_emplace(key, static_cast<std::uint32_t>(drafts_.size()));
      if (added) drafts_.push_back(draft_of(work, lane, unit));
      ids.push_back(InstructionId{found->second});
    }
    return ids;
  }

  // A unit a name; it is in the operator that launched it.
  std::uint32_t unit_of(const ProfiledRank& rank, const ProfiledWork& work) {
    const std::string& name = rank.names[work.name];
    const std::uint32_t unit = names_.of(name);
    if (unit == merged_.plan.units.size())
      merged_.plan.units.push_back({name, work.place == 0 ? name : rank.names[work.place], 0, 0});
    return unit;
  }

  Draft draft_of(const ProfiledWork& work, std::uint32_t lane, std::uint32_t unit) {
    Draft draft{{}, work.issue, work.start};
    draft.instruction.kind = work.kind;
    draft.instruction.stream = StreamId{lane};
    draft.instruction.unit = UnitId{unit};
    draft.instruction.bytes = work.bytes;
    if (!is_collective(work.kind)) return draft;
    const int size = work.group_size > 0 ? work.group_size : merged_.plan.world_size;
    RankSet ranks;
    if (size != merged_.plan.world_size) ranks = {GroupDimension::ranks, size};
    const std::uint32_t group = groups_.of(to_text(ranks));
    if (group == merged_.plan.groups.size()) merged_.plan.groups.push_back({ranks, size});
    draft.instruction.group = GroupId{group};
    return draft;
  }

  // Host issue order, where each was seen first.
  void put_in_order() {
    std::vector<std::uint32_t> order(drafts_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
      return std::tie(drafts_[a].issue, drafts_[a].start) < std::tie(drafts_[b].issue, drafts_[b].start);
    });
    std::vector<InstructionId> place(drafts_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = InstructionId{i};
      merged_.plan.instructions.push_back(std::move(drafts_[order[i]].instruction));
    }
    for (auto& rank : merged_.instructions)
      for (auto& step : rank)
        for (InstructionId& id : step) id = place[id.index()];
  }

  // A profiler does not tell what waits for what. Compute that begins after standing still is taken to wait
  // for the collective that ended last in that gap.
  void infer_waits() {
    if (ranks_.empty() || ranks_.front().steps.empty()) return;
    const std::vector<ProfiledWork>& work = ranks_.front().steps.front().work;
    const std::vector<InstructionId>& ids = merged_.instructions.front().front();
    std::vector<std::size_t> collectives, computes, host_waits;
    for (std::size_t i = 0; i < work.size(); ++i) {
      if (is_collective(work[i].kind)) {
        collectives.push_back(i);
      } else if (work[i].kind == InstructionKind::HostWait) {
        host_waits.push_back(i);
      } else if (work[i].lane == 0) {
        computes.push_back(i);
      }
    }
    // The host waits for what ends when its wait does.
    for (const std::size_t each : host_waits)
      for (const std::size_t other : collectives)
        if (work[other].end == work[each].end && ids[other] < ids[each])
          merged_.plan.instructions[ids[each].index()].waits = {ids[other]};
    std::stable_sort(collectives.begin(), collectives.end(),
                     [&](std::size_t a, std::size_t b) { return work[a].end < work[b].end; });
    std::stable_sort(computes.begin(), computes.end(),
                     [&](std::size_t a, std::size_t b) { return work[a].start < work[b].start; });
    Nanoseconds busy_until;
    for (const std::size_t each : computes) {
      const auto after = std::partition_point(collectives.begin(), collectives.end(), [&](std::size_t other) {
        return work[other].end <= work[each].start;
      });
      const bool stood_still = work[each].start - busy_until > k_least_gap;
      if (stood_still && after != collectives.begin() && work[*(after - 1)].end > busy_until &&
          ids[*(after - 1)] < ids[each])
        merged_.plan.instructions[ids[each].index()].waits = {ids[*(after - 1)]};
      busy_until = std::max(busy_until, work[each].end);
    }
  }

  const std::vector<ProfiledRank>& ranks_;
  MergedPlan merged_;
  Names lanes_, names_, groups_;
  std::map<Key, std::uint32_t> known_;
  std::vector<Draft> drafts_;
};

}  // namespace

MergedPlan merge_plans(const std::vector<ProfiledRank>& ranks, int world_size) {
  return Merger(ranks, world_size).merge();
}

}  // namespace shardlab

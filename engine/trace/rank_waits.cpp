#include "engine/trace/rank_waits.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/plan/group_ranks.h"
#include "engine/plan/instruction.h"

namespace shardlab {
namespace {

// Where each rank's trace stands in a step, and its spans by instruction.
struct StepRanks {
  std::map<int, std::size_t> places;                     // by rank, in the step
  std::vector<std::vector<const Span*>> of_instruction;  // by place and instruction; null: not run
};

StepRanks ranks_of(const StepPlan& plan, const StepTrace& step) {
  StepRanks ranks;
  for (const RankTrace& rank : step.ranks) {
    ranks.places[rank.rank] = ranks.of_instruction.size();
    auto& spans = ranks.of_instruction.emplace_back(plan.instructions.size(), nullptr);
    for (const Span& span : rank.spans) {
      if (!span.skipped) spans[span.instruction.index()] = &span;
    }
  }
  return ranks;
}

class Waits {
 public:
  Waits(const StepPlan& plan, const Scenario& scenario) : plan_(plan), scenario_(scenario) {}

  // `step`: of the same ranks as those before.
  void add(const StepTrace& step) {
    const StepRanks ranks = ranks_of(plan_, step);
    sums_.resize(step.ranks.size());
    for (std::size_t i = 0; i < step.ranks.size(); ++i) add_rank(step.ranks[i], sums_[i]);
    for (std::size_t i = 0; i < plan_.instructions.size(); ++i) {
      const Instruction& instruction = plan_.instructions[i];
      if (is_collective(instruction.kind) && instruction.group) add_collective(step, ranks, i);
    }
  }

  std::vector<RankWait> means(std::int64_t steps) {
    for (RankWait& rank : sums_) {
      for (Nanoseconds* time : {&rank.step, &rank.computes, &rank.waits, &rank.held_up})
        *time = *time / steps;
      rank.collectives /= static_cast<double>(steps);
      rank.last /= static_cast<double>(steps);
    }
    return std::move(sums_);
  }

 private:
  void add_rank(const RankTrace& trace, RankWait& sum) const {
    sum.rank = trace.rank;
    sum.step += trace.duration;
    for (const Span& span : trace.spans) {
      const Instruction& instruction = plan_.instruction(span.instruction);
      const bool computes = instruction.stream.index() == 0 && !is_collective(instruction.kind) &&
                            !is_host_only(instruction.kind);
      if (computes && !span.skipped) sum.computes += span.end - span.start;
    }
  }

  void add_collective(const StepTrace& step, const StepRanks& ranks, std::size_t instruction) {
    const std::size_t group = plan_.instructions[instruction].group->index();
    for (const std::vector<int>& members : meetings_of(group)) {
      std::vector<std::pair<Nanoseconds, std::size_t>> came;  // when and who
      for (const int member : members) {
        const auto place = ranks.places.find(member);
        if (place == ranks.places.end()) break;
        const Span* const span = ranks.of_instruction[place->second][instruction];
        if (span == nullptr) break;
        came.emplace_back(step.ranks[place->second].start_offset + span->start, place->second);
      }
      if (came.size() > 1 && came.size() == members.size()) add_meeting(came);
    }
  }

  void add_meeting(const std::vector<std::pair<Nanoseconds, std::size_t>>& came) {
    const auto [time, last] = *std::max_element(came.begin(), came.end());
    Nanoseconds waited;
    for (const auto& [when, who] : came) {
      ++sums_[who].collectives;
      sums_[who].waits += time - when;
      waited += time - when;
    }
    if (waited.value == 0) return;
    ++sums_[last].last;
    sums_[last].held_up += waited / static_cast<std::int64_t>(came.size() - 1);
  }

  // Found once a group. A group of one waits for nobody.
  const std::vector<std::vector<int>>& meetings_of(std::size_t group) {
    const auto [found, is_new] = meetings_.try_emplace(group);
    if (is_new && plan_.groups[group].size > 1)
      found->second = rank_sets_of_group(plan_.groups[group], scenario_, plan_.world_size);
    return found->second;
  }

  const StepPlan& plan_;
  const Scenario& scenario_;
  std::vector<RankWait> sums_;
  std::map<std::size_t, std::vector<std::vector<int>>> meetings_;  // by group
};

bool have_same_ranks(const StepTrace& a, const StepTrace& b) {
  return std::equal(a.ranks.begin(), a.ranks.end(), b.ranks.begin(), b.ranks.end(),
                    [](const RankTrace& x, const RankTrace& y) { return x.rank == y.rank; });
}

}  // namespace

std::vector<RankWait> rank_waits(const StepPlan& plan, const Scenario& scenario,
                                 std::span<const StepTrace* const> steps) {
  Waits waits(plan, scenario);
  std::int64_t counted = 0;
  for (const StepTrace* const step : steps) {
    if (step->ranks.size() < 2 || !have_same_ranks(*step, *steps.front())) continue;
    waits.add(*step);
    ++counted;
  }
  return counted == 0 ? std::vector<RankWait>() : waits.means(counted);
}

std::vector<RankWait> rank_waits(const StepPlan& plan, const Scenario& scenario,
                                 std::span<const StepTrace> steps) {
  std::vector<const StepTrace*> each;
  for (const StepTrace& step : steps) each.push_back(&step);
  return rank_waits(plan, scenario, std::span<const StepTrace* const>(each));
}

}  // namespace shardlab

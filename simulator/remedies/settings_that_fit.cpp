#include "simulator/remedies/settings_that_fit.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/doctor/job/room.h"
#include "simulator/remedies/levels.h"

namespace shardlab {
namespace {

// A proposal: several changes are worth it where they take so much less time than one.
constexpr double k_worth_several = 0.05;

// What a remedy costs besides time, the least first.
enum class Price : std::uint8_t { nothing, bits, host_memory };

Price price_of(RemedyStep step) {
  if (step >= RemedyStep::activation_offload) return Price::host_memory;
  return step == RemedyStep::lower_types ? Price::bits : Price::nothing;
}

struct Costed {
  const Remedy* remedy = nullptr;
  double slower = 1;  // the time that it takes, over that without
};

// By its mildest level that helps alone; else by the mildest that is allowed, which may help beside others.
Costed costed(Trials& trials, const Remedy& remedy) {
  const RunSummary& before = trials.before();
  std::optional<double> allowed;
  for (const Settings& level : remedy.levels) {
    const RunSummary* const run = trials.with(level);
    if (run == nullptr || time_of(before) <= 0) continue;
    const double slower = time_of(*run) / time_of(before);
    if (lacks_less(*run, before)) return {&remedy, slower};
    if (!allowed) allowed = slower;
  }
  return {&remedy, allowed.value_or(1)};
}

class CheapestFit {
 public:
  CheapestFit(Trials& trials, const std::vector<Remedy>& remedies)
      : trials_(trials), remedies_(remedies), together_{{}, &trials.before()} {}

  std::optional<LevelsTogether> found() {
    const bool only_just = room_of(trials_.before()) == Room::tight;
    for (const Price price : {Price::nothing, Price::bits, Price::host_memory}) {
      const bool runs = only_just || room_of(*together_.run) == Room::tight;
      if (best_ || (price == Price::host_memory && runs)) break;
      try_all(all_at(price));
    }
    if (best_) return best_;
    if (together_.levels.empty()) return std::nullopt;
    return pruned(trials_, together_);
  }

 private:
  // In the order of their steps.
  std::vector<Costed> all_at(Price price) {
    std::vector<Costed> all;
    for (const Remedy& remedy : remedies_) {
      if (price_of(remedy.step) == price) all.push_back(costed(trials_, remedy));
    }
    return all;
  }

  // Each alone; then, the cheapest first, each with those before it that do not suffice.
  void try_all(std::vector<Costed> all) {
    for (const Costed& each : all) {
      const auto alone = with_remedy(trials_, {{}, &trials_.before()}, *each.remedy);
      if (alone && has_room(*alone->run)) keep(*alone);
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Costed& a, const Costed& b) { return a.slower < b.slower; });
    for (const Costed& each : all) {
      if (best_ && !is_worth_several(time_of(*together_.run) * each.slower)) continue;
      auto with = with_remedy(trials_, together_, *each.remedy);
      if (!with) continue;
      if (has_room(*with->run))
        keep(pruned(trials_, *std::move(with)));
      else
        together_ = *std::move(with);
    }
  }

  bool is_worth_several(double time) const { return time < time_of(*best_->run) * (1 - k_worth_several); }

  void keep(LevelsTogether fitting) {
    const bool more = best_ && fitting.levels.size() > best_->levels.size();
    const bool cheaper =
        !best_ || (more ? is_worth_several(time_of(*fitting.run)) : is_faster(*fitting.run, *best_->run));
    if (cheaper) best_ = std::move(fitting);
  }

  Trials& trials_;
  const std::vector<Remedy>& remedies_;
  LevelsTogether together_;             // what does not suffice yet
  std::optional<LevelsTogether> best_;  // with room
};

}  // namespace

std::optional<FittingSettings> settings_that_fit(Trials& trials, std::vector<Remedy> remedies) {
  std::stable_sort(remedies.begin(), remedies.end(),
                   [](const Remedy& a, const Remedy& b) { return a.step < b.step; });
  const auto found = CheapestFit(trials, remedies).found();
  if (!found) return std::nullopt;
  return FittingSettings{settings_of(found->levels), found->run};
}

}  // namespace shardlab

#include "simulator/remedies/levels.h"

#include <algorithm>
#include <utility>

#include "engine/doctor/job/room.h"

namespace shardlab {
namespace {

// A proposal: below it a gain is within what a prediction does not know.
constexpr double k_least_faster = 0.01;

// Whether these do as well as `all`. What costs more than time goes even where it makes the step faster.
bool does_as_well(const RunSummary* fewer, const RunSummary& all, bool may_be_slower) {
  if (fewer == nullptr || room_of(*fewer) > room_of(all)) return false;
  if (!may_be_slower && is_faster(all, *fewer)) return false;
  return has_room(*fewer) || need_of(*fewer).value / 100 <= need_of(all).value / 99;
}

bool replace(Trials& trials, LevelsTogether& all, std::vector<Level> levels, bool may_be_slower) {
  const RunSummary* const run = trials.with(settings_of(levels));
  if (!does_as_well(run, *all.run, may_be_slower)) return false;
  all = {std::move(levels), run};
  return true;
}

}  // namespace

Settings settings_of(const std::vector<Level>& levels) {
  Settings settings;
  for (const Level& level : levels) {
    for (const std::string& each : level.remedy->levels[level.index]) {
      std::erase(settings, each);
      settings.push_back(each);
    }
  }
  return settings;
}

bool has_room(const RunSummary& run) {
  return room_of(run) == Room::ample;
}

bool lacks_less(const RunSummary& a, const RunSummary& b) {
  return std::pair(room_of(a), need_of(a)) < std::pair(room_of(b), need_of(b));
}

double time_of(const RunSummary& run) {
  return run.tokens_per_second > 0 ? 1 / run.tokens_per_second : 0;
}

bool is_faster(const RunSummary& a, const RunSummary& b) {
  return time_of(a) < time_of(b) * (1 - k_least_faster);
}

std::optional<LevelsTogether> with_remedy(Trials& trials, const LevelsTogether& beside,
                                          const Remedy& remedy) {
  std::optional<LevelsTogether> best;
  for (std::size_t i = 0; i < remedy.levels.size(); ++i) {
    std::vector<Level> levels = beside.levels;
    levels.push_back({&remedy, i});
    const RunSummary* const run = trials.with(settings_of(levels));
    if (run == nullptr || !lacks_less(*run, *beside.run)) continue;
    if (best && !lacks_less(*run, *best->run)) continue;
    best = LevelsTogether{std::move(levels), run};
    if (has_room(*run)) break;
  }
  return best;
}

LevelsTogether pruned(Trials& trials, LevelsTogether all) {
  for (std::size_t i = all.levels.size(); i-- > 0 && all.levels.size() > 1;) {
    std::vector<Level> fewer = all.levels;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    replace(trials, all, std::move(fewer), all.levels[i].remedy->step >= RemedyStep::lower_types);
  }
  for (std::size_t i = 0; i < all.levels.size(); ++i) {
    for (std::size_t milder = 0; milder < all.levels[i].index; ++milder) {
      std::vector<Level> levels = all.levels;
      levels[i].index = milder;
      if (replace(trials, all, std::move(levels), false)) break;
    }
  }
  return all;
}

}  // namespace shardlab

#include "simulator/remedies/settings_that_fit.h"

#include <algorithm>
#include <utility>

#include "engine/doctor/job/room.h"

namespace shardlab {
namespace {

// Less is better: whether it fails, then what it needs.
std::pair<Room, Bytes> badness(const RunSummary& run) {
  return {room_of(run), need_of(run)};
}

bool has_room(const RunSummary* run) {
  return run != nullptr && room_of(*run) == Room::ample;
}

Settings joined(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

// Whether the fewer settings do as well: there is room, or the need is as low but for 1 %.
bool does_as_well(const RunSummary* fewer, const RunSummary& all) {
  if (fewer == nullptr || room_of(*fewer) > room_of(all)) return false;
  return has_room(fewer) || need_of(*fewer).value / 100 <= need_of(all).value / 99;
}

// Without what is not needed, the costliest left out first: the last.
FittingSettings pruned(Trials& trials, FittingSettings fitting) {
  for (std::size_t i = fitting.settings.size(); i-- > 0 && fitting.settings.size() > 1;) {
    Settings fewer = fitting.settings;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (const RunSummary* run = trials.with(fewer); does_as_well(run, *fitting.run))
      fitting = {std::move(fewer), run};
  }
  return fitting;
}

}  // namespace

std::optional<FittingSettings> best_level(Trials& trials, const Remedy& remedy, const Settings& beside) {
  const RunSummary* before = beside.empty() ? &trials.before() : trials.with(beside);
  if (before == nullptr) before = &trials.before();
  std::optional<FittingSettings> best;
  for (const Settings& level : remedy.levels) {
    Settings settings = joined(beside, level);
    const RunSummary* run = trials.with(settings);
    if (run == nullptr || badness(*run) >= badness(*before)) continue;
    if (best && badness(*run) >= badness(*best->run)) continue;
    best = FittingSettings{std::move(settings), run};
    if (has_room(run)) break;
  }
  return best;
}

std::optional<FittingSettings> settings_that_fit(Trials& trials, std::vector<Remedy> remedies) {
  std::stable_sort(remedies.begin(), remedies.end(),
                   [](const Remedy& a, const Remedy& b) { return a.step < b.step; });
  const bool only_just = room_of(trials.before()) == Room::tight;
  std::optional<FittingSettings> together;
  for (const Remedy& remedy : remedies) {
    const bool offloads = remedy.step >= RemedyStep::optimizer_offload;
    if (offloads && (only_just || (together && room_of(*together->run) == Room::tight))) break;
    if (auto alone = best_level(trials, remedy); alone && has_room(alone->run)) return alone;
    const auto with = best_level(trials, remedy, together ? together->settings : Settings{});
    if (!with) continue;
    if (has_room(with->run)) return pruned(trials, *with);
    together = with;
  }
  if (together) together = pruned(trials, *std::move(together));
  return together;
}

}  // namespace shardlab

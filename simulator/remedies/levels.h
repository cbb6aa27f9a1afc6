// Levels of remedies taken together, and what is predicted with them.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "engine/doctor/remedy.h"
#include "simulator/remedies/trials.h"

namespace shardlab {

// One of `remedy->levels`. Points into remedies that must live as long as it.
struct Level {
  const Remedy* remedy = nullptr;
  std::size_t index = 0;
};

struct LevelsTogether {
  std::vector<Level> levels;  // of a remedy one at most, in the order in which they were taken
  const RunSummary* run = nullptr;
};

// All settings of the levels, each once: where two name the same, at the place of the later.
Settings settings_of(const std::vector<Level>& levels);

// Whether it has room to spare (job/room.h).
bool has_room(const RunSummary& run);
// Whether it is less in want of memory: by its room, then by what it needs.
bool lacks_less(const RunSummary& a, const RunSummary& b);

// The time for a token: steps are compared by it, so that a smaller batch is no shorter step.
double time_of(const RunSummary& run);
// Whether it takes less time, by more than what a prediction does not know.
bool is_faster(const RunSummary& a, const RunSummary& b);

// `beside` with the mildest level of one remedy after which there is room, else with the one that needs
// least. Nothing where none needs less than `beside` alone.
std::optional<LevelsTogether> with_remedy(Trials& trials, const LevelsTogether& beside, const Remedy& remedy);

// Without the levels that are not needed, the last taken left out first, and with milder ones where they do:
// there is room all the same, or the need is as low but for 1 %. What costs nothing but time stays where it
// makes the step faster.
LevelsTogether pruned(Trials& trials, LevelsTogether all);

}  // namespace shardlab

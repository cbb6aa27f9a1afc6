// The plan that a trace shows: who shards, over what, how it is set. A proposal: a profiler records what ran,
// and what it was told to do follows from names and counts. Each part says how sure it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/words.h"
#include "engine/formats/profiler/profiler_trace.h"

namespace shardlab {

enum class Sureness : std::uint8_t {
  named,    // the trace names it
  counted,  // it follows from how often something is there, or from sizes
  guessed,  // the usual one of several that look the same
};
template <>
inline constexpr auto k_words<Sureness> = std::to_array<Word<Sureness>>({{Sureness::named, "named"},
                                                                         {Sureness::counted, "counted"},
                                                                         {Sureness::guessed, "guessed"}});

struct SeenSetting {
  std::string key, value;  // as in a scenario: "parallel.reshard_after_forward", "false"
  Sureness sure = Sureness::named;
  std::string why;  // in words

  friend bool operator==(const SeenSetting&, const SeenSetting&) = default;
};

struct SeenPlan {
  std::string words;  // "FSDP2 of a 6-layer Llama, 13 gathers a step"
  std::vector<SeenSetting> settings;

  const SeenSetting* find(std::string_view key) const;
};

// The plan of the last step that the first trace holds; a trace of each rank, in any order. Absent where no
// mark of DDP, FSDP or DeepSpeed is in it (seen_marks.h).
std::optional<SeenPlan> seen_plan(const std::vector<ProfilerTrace>& traces);

}  // namespace shardlab

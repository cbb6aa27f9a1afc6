// Which ranks others wait for, as text and JSON.
#pragma once

#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "engine/report/terminal.h"
#include "engine/trace/rank_waits.h"

namespace shardlab {

nlohmann::ordered_json rank_waits_json(std::span<const RankWait> ranks);  // docs/json.md

inline constexpr std::size_t k_shown_ranks = 12;

// Who holds up most comes first. Of more than `most` ranks these are they that hold up any, and the others
// share a row of medians.
std::string rank_table(std::span<const RankWait> ranks, const TextStyle& style,
                       std::size_t most = k_shown_ranks);

}  // namespace shardlab

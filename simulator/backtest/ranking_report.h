// A ranking as text and as JSON.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "engine/report/terminal.h"
#include "simulator/backtest/ranking.h"

namespace shardlab {

// Ends with a newline.
std::string ranking_text(const Ranking& ranking, const TextStyle& style);

// docs/json.md, `backtest --ranking`.
nlohmann::ordered_json ranking_json(const Ranking& ranking);

}  // namespace shardlab

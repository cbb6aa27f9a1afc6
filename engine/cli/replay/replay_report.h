// What became of a recording, for people and for programs.
#pragma once

#include <string>

#include "engine/cli/console.h"
#include "engine/report/terminal.h"
#include "simulator/memory/replay/replay.h"

namespace shardlab {

// `file`: as the recording is called.
std::string replay_text(const std::string& file, const ReplayOutcome& outcome, const TextStyle& style);

// The document of docs/json.md, `replay`.
Json replay_json(const std::string& file, const ReplayOutcome& outcome);

}  // namespace shardlab

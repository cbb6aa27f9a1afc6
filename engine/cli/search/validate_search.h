// The best configurations of a search, run for real here, or written out for the machine that has the
// devices.
#pragma once

#include <string>

#include "engine/base/result.h"
#include "engine/cli/command.h"
#include "engine/cli/search/search_for.h"
#include "engine/execute/rank_team.h"

namespace shardlab {

struct SearchProof {
  SearchSettings search;
  int top = 3;
  std::string write;  // a folder: scenarios and commands are written there, nothing is run
  std::string from;   // a database: runs are taken from it, nothing is run
  bool no_calibrate = false;
};

// Searches, then runs the best, writes them, or finds their runs; prints order, regret and the new ranking.
// Exit code 1 where nothing satisfies. Errors: those of the search; bad_input for a folder or a database that
// cannot be written or read; a run that fails is a row, unless the fault is ours.
Result<int> validate_search(CommandContext& context, const SearchProof& proof, RankTeam* team);

}  // namespace shardlab

#include "engine/cli/launched.h"

#include <fmt/format.h>

#include "engine/cli/measure.h"
#include "engine/cli/spool_folder.h"

namespace shardlab {
namespace {

Result<int> lead(const RankEnvironment& environment, const std::filesystem::path& folder, Console& console,
                 const std::function<Result<int>(RankTeam*)>& command) {
  console.note(fmt::format("rank 0 of {}, started by {}: the ranks meet at {}:{}, their files in {}",
                           environment.world, to_string(environment.launcher), environment.master_address,
                           environment.master_port, folder.string()));
  SHARDLAB_TRY(RankTeam team, RankTeam::create(environment, folder));
  Result<int> code = command(&team);
  team.dismiss(code ? *code : exit_code(code.error().kind));
  return code;
}

}  // namespace

Result<int> run_launched(Console& console, const std::function<Result<int>(RankTeam*)>& command) {
  SHARDLAB_TRY(const auto joined, one_of_several(current_environment()));
  if (!joined) return command(nullptr);
  const std::filesystem::path folder = meeting_folder(*joined);
  if (joined->rank == 0) return lead(*joined, folder, console, command);
  return follow_rank_0(*joined, folder, rank_program);
}

}  // namespace shardlab

#include "engine/cli/spool_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "engine/execute/meeting/run_secret.h"
#include "engine/execute/run_folder.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

Result<fs::path> new_temporary_folder() {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  if (error) return not_possible("TMPDIR", "no folder for temporary files: " + error.message());
  std::string name = (folder / "shardlab-run-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    return not_possible(in_file(folder.string()), std::string("cannot be written: ") + std::strerror(errno));
  return fs::path(name);
}

}  // namespace

Result<SpoolFolder> SpoolFolder::make(const fs::path& chosen, const std::optional<RankEnvironment>& joined) {
  if (!chosen.empty()) return SpoolFolder(fs::absolute(chosen), true);
  if (joined) {
    // The folder is the other ranks' as well, and a rank that gives up removes it: what it can refuse alone
    // comes first.
    SHARDLAB_CHECK_OK(secret_of_user(current_environment()));
    fs::path meeting = meeting_folder(*joined);
    SHARDLAB_CHECK_OK(make_run_folder(meeting));
    return SpoolFolder(std::move(meeting), false);
  }
  SHARDLAB_TRY(fs::path path, new_temporary_folder());
  return SpoolFolder(std::move(path), false);
}

Result<SpoolFolder> SpoolFolder::make(const fs::path& chosen, RankTeam* team) {
  if (team == nullptr || !chosen.empty()) return make(chosen, std::optional<RankEnvironment>());
  return SpoolFolder(team->new_run_directory(), false);
}

SpoolFolder::~SpoolFolder() {
  if (!kept_) remove_run_folder(path_);
}

const fs::path& SpoolFolder::keep() {
  kept_ = true;
  return path_;
}

fs::path meeting_folder(const RankEnvironment& joined) {
  return fs::absolute(fmt::format("shardlab-spool-{}-{}", joined.master_address, joined.master_port));
}

}  // namespace shardlab

// The folder in which the ranks of one run write.
#pragma once

#include <filesystem>
#include <optional>

#include "engine/base/result.h"
#include "engine/execute/rank_environment.h"
#include "engine/execute/rank_team.h"

namespace shardlab {

// Removes the folder at the end of its life unless it is to be kept.
class SpoolFolder {
 public:
  // `chosen`, which is then kept; else a new one below the system's folder for temporary files. Ranks that
  // another launcher started (`joined`) must meet in one folder, so theirs lies in the current one, named
  // after the rendezvous. A folder that cannot be made or written is not_possible; a secret of the user's
  // that is none is bad_input.
  static Result<SpoolFolder> make(const std::filesystem::path& chosen,
                                  const std::optional<RankEnvironment>& joined);
  // The same for the ranks of a team, or for ranks that this process starts where there is none.
  static Result<SpoolFolder> make(const std::filesystem::path& chosen, RankTeam* team);

  SpoolFolder(SpoolFolder&& other) noexcept : path_(std::move(other.path_)), kept_(other.kept_) {
    other.kept_ = true;
  }
  SpoolFolder& operator=(SpoolFolder&&) = delete;
  ~SpoolFolder();

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& keep();

 private:
  SpoolFolder(std::filesystem::path path, bool kept) : path_(std::move(path)), kept_(kept) {}

  std::filesystem::path path_;
  bool kept_;
};

// Where processes that a launcher started meet: in the current folder, named after the rendezvous.
std::filesystem::path meeting_folder(const RankEnvironment& joined);

}  // namespace shardlab

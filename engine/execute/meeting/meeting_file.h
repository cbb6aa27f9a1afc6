// The word that rank 0 leaves in the run's folder, so that the others find the meeting: its port, and the
// secret that they must say there. Only the user can read the file.
#pragma once

#include <filesystem>
#include <optional>

#include "engine/base/result.h"
#include "engine/execute/meeting/run_secret.h"

namespace shardlab {

struct MeetingWord {
  int port = 0;
  std::optional<RunSecret> secret;  // none: it is the user's own, which every rank has been told
};

std::filesystem::path meeting_file(const std::filesystem::path& run_directory);

// In the place of what an earlier run left; whoever reads it finds all of it or none. run_failed when it
// cannot be written.
Status write_meeting_word(const std::filesystem::path& run_directory, const MeetingWord& word);
// Nothing while there is none that this user wrote; links are not followed.
std::optional<MeetingWord> read_meeting_word(const std::filesystem::path& run_directory);
// What an earlier run left, before this one begins.
void remove_meeting_word(const std::filesystem::path& run_directory);

}  // namespace shardlab

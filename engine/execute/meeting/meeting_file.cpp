#include "engine/execute/meeting/meeting_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>

#include <fmt/format.h>

#include "engine/base/output_file.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

// What this user wrote there. Anybody else's word would lead the rank to them.
std::string read_own(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return {};
  struct stat status {};
  std::array<char, 512> text{};
  ssize_t count = 0;
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid())
    count = ::read(descriptor, text.data(), text.size());
  ::close(descriptor);
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
}

}  // namespace

fs::path meeting_file(const fs::path& run_directory) {
  return run_directory / "meeting";
}

Status write_meeting_word(const fs::path& run_directory, const MeetingWord& word) {
  const std::string secret = word.secret ? word.secret->reveal() : "";
  return write_output_file(meeting_file(run_directory), fmt::format("{} {}\n", word.port, secret),
                           FileMode::private_to_user);
}

std::optional<MeetingWord> read_meeting_word(const fs::path& run_directory) {
  std::istringstream stream(read_own(meeting_file(run_directory)));
  MeetingWord word;
  std::string secret;
  if (!(stream >> word.port) || word.port < 1 || word.port > 65535) return std::nullopt;
  if (!(stream >> secret)) return word;
  auto parsed = RunSecret::parse(secret, "meeting");
  if (!parsed) return std::nullopt;
  word.secret = *std::move(parsed);
  return word;
}

void remove_meeting_word(const fs::path& run_directory) {
  std::error_code ignored;
  fs::remove(meeting_file(run_directory), ignored);
}

}  // namespace shardlab

#include "engine/execute/meeting/meeting_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>

#include <fmt/format.h>

namespace shardlab {
namespace {

namespace fs = std::filesystem;

Status write_private(const fs::path& file, const std::string& text) {
  const int descriptor =
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  const bool written =
      descriptor >= 0 && ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int failed = errno;
  const bool closed = descriptor >= 0 && ::close(descriptor) == 0;
  if (written && closed) return {};
  return run_failed(in_file(file.string()), fmt::format("cannot be written: {}", std::strerror(failed)));
}

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
  const fs::path file = meeting_file(run_directory);
  const fs::path unfinished = file.string() + ".new";
  std::error_code error;
  fs::remove(unfinished, error);
  const std::string secret = word.secret ? word.secret->reveal() : "";
  SHARDLAB_CHECK_OK(write_private(unfinished, fmt::format("{} {}\n", word.port, secret)));
  fs::rename(unfinished, file, error);
  if (error) return run_failed(in_file(file.string()), "cannot be written: " + error.message());
  return {};
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

#include "engine/base/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "engine/base/units.h"

namespace shardlab {
namespace {

std::string_view name_of_mode(mode_t mode) {
  if (S_ISFIFO(mode)) return "is a pipe";
  if (S_ISSOCK(mode)) return "is a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "is a device";
  return "is no ordinary file";
}

std::string_view article_of(std::string_view noun) {
  return std::string_view("aeiou").find(noun.front()) != std::string_view::npos ? "an" : "a";
}

std::string not_a(std::string_view what, std::string_view kind) {
  return fmt::format("{}, not {} {}", what, article_of(kind), kind);
}

tl::unexpected<Error> failed(const Place& place, std::string_view what, int error) {
  return unreadable(bad_input(place, fmt::format("{}: {}", what, std::strerror(error))));
}

int open_to_read(const std::filesystem::path& file) {
  int descriptor;
  // Without O_NONBLOCK the opening of a pipe waits for a writer.
  do descriptor = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

// A read may give less than was asked for, and the file may grow or shrink meanwhile.
Result<std::string> read_up_to(const InputFile& input, std::int64_t most, const Place& place) {
  std::string text;
  text.resize(static_cast<std::size_t>(std::min(input.size(), most)) + 1);
  std::size_t filled = 0;
  while (true) {
    const ssize_t got = ::read(input.descriptor(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(place, "cannot be read", errno);
    filled += static_cast<std::size_t>(got);
    if (got == 0 || static_cast<std::int64_t>(filled) > most) break;
    if (filled == text.size()) text.resize(text.size() + (std::size_t{64} << 10));
  }
  text.resize(filled);
  return text;
}

}  // namespace

Result<InputFile> InputFile::open(const std::filesystem::path& file, std::string_view kind) {
  const Place place = in_file(file.string());
  const int descriptor = open_to_read(file);
  if (descriptor < 0 && errno == ENOENT) return bad_input(place, "no such file");
  if (descriptor < 0) return failed(place, "cannot be opened", errno);
  struct stat status {};
  const bool known = ::fstat(descriptor, &status) == 0;
  InputFile input(descriptor, known ? status.st_size : 0);
  if (!known) return failed(place, "cannot be opened", errno);
  if (S_ISDIR(status.st_mode)) return bad_input(place, not_a("is a folder", kind));
  if (!S_ISREG(status.st_mode)) return bad_input(place, not_a(name_of_mode(status.st_mode), kind));
  return input;
}

InputFile::InputFile(InputFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  size_ = other.size_;
  return *this;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

int InputFile::release() {
  return std::exchange(descriptor_, -1);
}

Result<std::string> read_input_file(const std::filesystem::path& file, const FileKind& kind) {
  SHARDLAB_TRY(const InputFile input, InputFile::open(file, kind.name));
  const Place place = in_file(file.string());
  const auto too_large = [&] {
    return bad_input(place, not_a(fmt::format("is larger than {}", to_string(Bytes{kind.most})), kind.name));
  };
  if (input.size() > kind.most) return too_large();
  SHARDLAB_TRY(std::string text, read_up_to(input, kind.most, place));
  if (static_cast<std::int64_t>(text.size()) > kind.most) return too_large();
  return text;
}

}  // namespace shardlab

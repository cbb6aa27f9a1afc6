#include "engine/base/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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
    SHARDLAB_TRY(const std::size_t got, read_piece(input, std::span<char>(text).subspan(filled), place));
    filled += got;
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

Result<InputFile> InputFile::standard_input() {
  const int descriptor = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) return failed(in_file("-"), "cannot be opened", errno);
  return InputFile(descriptor, 0);
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

tl::unexpected<Error> larger_than_kind(const Place& place, const FileKind& kind) {
  return bad_input(place, not_a(fmt::format("is larger than {}", to_string(Bytes{kind.most})), kind.name));
}

Result<std::string> read_input_file(const std::filesystem::path& file, const FileKind& kind) {
  SHARDLAB_TRY(const InputFile input, InputFile::open(file, kind.name));
  const Place place = in_file(file.string());
  if (input.size() > kind.most) return larger_than_kind(place, kind);
  SHARDLAB_TRY(std::string text, read_up_to(input, kind.most, place));
  if (static_cast<std::int64_t>(text.size()) > kind.most) return larger_than_kind(place, kind);
  return text;
}

Result<std::string> read_beginning(const std::filesystem::path& file, const FileKind& kind) {
  SHARDLAB_TRY(const InputFile input, InputFile::open(file, kind.name));
  SHARDLAB_TRY(std::string text, read_up_to(input, kind.most, in_file(file.string())));
  text.resize(std::min(text.size(), static_cast<std::size_t>(kind.most)));
  return text;
}

Result<std::string> read_end(const std::filesystem::path& file, const FileKind& kind) {
  SHARDLAB_TRY(const InputFile input, InputFile::open(file, kind.name));
  const Place place = in_file(file.string());
  if (::lseek(input.descriptor(), std::max<std::int64_t>(0, input.size() - kind.most), SEEK_SET) < 0)
    return failed(place, "cannot be read", errno);
  SHARDLAB_TRY(std::string text, read_up_to(input, kind.most, place));
  text.resize(std::min(text.size(), static_cast<std::size_t>(kind.most)));
  return text;
}

Result<std::size_t> read_piece(const InputFile& input, std::span<char> room, const Place& place) {
  ssize_t got;
  do got = ::read(input.descriptor(), room.data(), room.size());
  while (got < 0 && errno == EINTR);
  if (got < 0) return failed(place, "cannot be read", errno);
  return static_cast<std::size_t>(got);
}

void skip_hole(const InputFile& input) {
  const off_t here = ::lseek(input.descriptor(), 0, SEEK_CUR);
  if (here < 0) return;  // what comes through a pipe has no holes
  const bool is_last = ::lseek(input.descriptor(), here, SEEK_DATA) < 0 && errno == ENXIO;
  if (is_last && here < input.size()) ::lseek(input.descriptor(), input.size(), SEEK_SET);
}

}  // namespace shardlab

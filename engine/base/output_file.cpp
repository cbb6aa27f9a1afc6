#include "engine/base/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "engine/base/write_all.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

// What is wrong with the path that was named; everything else is the machine's.
bool is_of_the_path(int error) {
  return error == ENOENT || error == ENOTDIR || error == EACCES || error == EISDIR || error == ENAMETOOLONG ||
         error == ELOOP || error == ENXIO;
}

tl::unexpected<Error> cannot_be_written(const fs::path& file, int error) {
  const std::string what = error == ENXIO ? "cannot be written: nobody reads from this pipe"
                                          : "cannot be written: " + std::generic_category().message(error);
  const Place place = in_file(file.string());
  return is_of_the_path(error) ? bad_input(place, what) : not_possible(place, what, "is the disk full?");
}

mode_t permissions(FileMode mode) {
  return mode == FileMode::executable ? 0777 : mode == FileMode::private_to_user ? 0600 : 0666;
}

int open_to_write(const fs::path& file, int flags, mode_t mode) {
  int descriptor;
  do descriptor = ::open(file.c_str(), O_WRONLY | O_CLOEXEC | flags, mode);
  while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

// A pipe is not waited for when it is opened, but while it is written to.
Result<int> open_stream(const fs::path& file) {
  const int descriptor = open_to_write(file, O_NONBLOCK | O_NOCTTY, 0);
  if (descriptor < 0 || ::fcntl(descriptor, F_SETFL, 0) != 0) {
    const int error = errno;
    if (descriptor >= 0) ::close(descriptor);
    return cannot_be_written(file, error);
  }
  return descriptor;
}

// With the permissions of what it replaces. What an earlier process of the same number left is no obstacle.
Result<int> open_beside(const fs::path& named, const fs::path& beside, const fs::path& real, FileMode mode) {
  int descriptor = open_to_write(beside, O_CREAT | O_EXCL | O_NOFOLLOW, permissions(mode));
  if (descriptor < 0 && errno == EEXIST && ::unlink(beside.c_str()) == 0)
    descriptor = open_to_write(beside, O_CREAT | O_EXCL | O_NOFOLLOW, permissions(mode));
  if (descriptor < 0) return cannot_be_written(named, errno);
  struct stat old {};
  if (mode == FileMode::plain && ::stat(real.c_str(), &old) == 0) ::fchmod(descriptor, old.st_mode & 0777);
  return descriptor;
}

fs::path beside(const fs::path& real) {
  fs::path name = real;
  name += fmt::format(".{}.part", ::getpid());
  return name;
}

}  // namespace

Result<fs::path> replaceable_file(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::is_symlink(path, error) ? fs::weakly_canonical(path, error) : path;
  const fs::file_status status = fs::status(real, error);
  if (!fs::exists(status) || fs::is_regular_file(status)) return real;
  return bad_input(in_file(path.string()),
                   fs::is_directory(status) ? "cannot be written: it is a folder"
                                            : "cannot be written: it is no ordinary file",
                   "name a file that may be replaced");
}

Result<OutputFile> OutputFile::create(const fs::path& path, FileMode mode) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_fifo(status) || fs::is_character_file(status)) {
    SHARDLAB_TRY(const int descriptor, open_stream(path));
    return OutputFile(path, path, {}, descriptor);
  }
  SHARDLAB_TRY(fs::path real, replaceable_file(path));
  fs::path unfinished = beside(real);
  SHARDLAB_TRY(const int descriptor, open_beside(path, unfinished, real, mode));
  return OutputFile(path, std::move(real), std::move(unfinished), descriptor);
}

OutputFile::OutputFile(fs::path named, fs::path real, fs::path beside, int descriptor)
    : named_(std::move(named)), real_(std::move(real)), beside_(std::move(beside)), descriptor_(descriptor) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : named_(std::move(other.named_)),
      real_(std::move(other.real_)),
      beside_(std::exchange(other.beside_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  if (this == &other) return *this;
  give_up();
  named_ = std::move(other.named_);
  real_ = std::move(other.real_);
  beside_ = std::exchange(other.beside_, {});
  descriptor_ = std::exchange(other.descriptor_, -1);
  return *this;
}

OutputFile::~OutputFile() {
  give_up();
}

void OutputFile::give_up() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (!beside_.empty()) ::unlink(beside_.c_str());
  beside_.clear();
}

Status OutputFile::write(std::string_view bytes) {
  const int failed = write_all(descriptor_, bytes);
  return failed == 0 ? Status() : cannot_be_written(named_, failed);
}

Status OutputFile::finish() {
  const bool is_stream = beside_.empty();
  // EINVAL: this file system has nothing to wait for.
  int failed = !is_stream && ::fsync(descriptor_) != 0 && errno != EINVAL ? errno : 0;
  // Linux has closed it also where it says that it was interrupted.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR && failed == 0) failed = errno;
  if (failed == 0 && !is_stream && ::rename(beside_.c_str(), real_.c_str()) != 0) failed = errno;
  if (failed != 0) {
    give_up();
    return cannot_be_written(named_, failed);
  }
  beside_.clear();
  return {};
}

Status write_output_file(const fs::path& path, std::string_view text, FileMode mode) {
  SHARDLAB_TRY(OutputFile file, OutputFile::create(path, mode));
  SHARDLAB_CHECK_OK(file.write(text));
  return file.finish();
}

}  // namespace shardlab

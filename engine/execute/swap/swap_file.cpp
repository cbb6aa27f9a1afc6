#include "engine/execute/swap/swap_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "engine/execute/swap/aligned_memory.h"
#include "engine/execute/swap/drive_failure.h"

namespace shardlab {
namespace {

// 0, or the errno of what failed. Beyond the limit of this process the kernel would send SIGXFSZ.
int take_room(int descriptor, std::int64_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      static_cast<rlim_t>(bytes) > limit.rlim_cur)
    return EFBIG;
  int failed = EINTR;
  while (failed == EINTR) failed = ::posix_fallocate(descriptor, 0, bytes);
  return failed;
}

}  // namespace

Place place_of_file(const SwapPlace& place, const std::string& name) {
  return swap_place(place.path + "/" + name, place.rank);
}

std::int64_t stored_bytes(std::int64_t data_bytes) {
  return k_swap_page + whole_pages(data_bytes);
}

Status make_swap_file(const SwapPlace& place, const std::string& name, std::int64_t data_bytes) {
  const Place at = place_of_file(place, name);
  const std::int64_t bytes = stored_bytes(data_bytes);
  const OwnedDescriptor file(::openat(place.folder, name.c_str(),
                                      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  DriveFailure failure{errno, "made", {bytes}, {-1}, ErrorKind::not_possible};
  if (!file.is_open() && failure.number == EEXIST)
    return not_possible(at, "is there already, and this run did not make it", k_start_again);
  if (!file.is_open() && failure.number == ENOSPC && free_bytes(place.folder).value > 0)
    return not_possible(at, "no room: the drive takes no further file (df -i tells how many it has)",
                        "remove files there, or use another drive (cluster.nvme.path)");
  if (!file.is_open()) return fail(drive_error(at, failure));
  failure.number = take_room(file.get(), bytes);
  if (failure.number == 0) return {};
  failure.free = free_bytes(place.folder);
  ::unlinkat(place.folder, name.c_str(), 0);
  return fail(drive_error(at, failure));
}

Result<OwnedDescriptor> open_swap_file(const SwapPlace& place, const SwapFile& file, bool is_write) {
  const Place at = place_of_file(place, file.name);
  const int flags = (is_write ? O_RDWR : O_RDONLY) | (place.is_direct ? O_DIRECT : 0);
  OwnedDescriptor descriptor(
      ::openat(place.folder, file.name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  // What takes the place of a file is refused with errors of many kinds: it is looked at instead.
  const int failed = descriptor.is_open() ? 0 : errno;
  struct stat status {};
  const bool is_known = failed == 0
                            ? ::fstat(descriptor.get(), &status) == 0
                            : ::fstatat(place.folder, file.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  if (is_known && S_ISLNK(status.st_mode)) return fail(drive_error(at, {ELOOP, "opened"}));
  if (is_known && !S_ISREG(status.st_mode))
    return run_failed(at, "is no ordinary file any more", k_start_again);
  if (failed != 0 || !is_known) return fail(drive_error(at, {failed != 0 ? failed : errno, "opened"}));
  const std::int64_t expected = stored_bytes(file.bytes);
  if (status.st_size < expected)
    return run_failed(at, fmt::format("holds {} bytes of {}", status.st_size, expected), k_start_again);
  if (status.st_size > expected)
    return run_failed(
        at, fmt::format("holds {} bytes, more than the {} that belong there", status.st_size, expected),
        k_start_again);
  return descriptor;
}

}  // namespace shardlab

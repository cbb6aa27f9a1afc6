#include "engine/execute/swap/drive_failure.h"

#include <sys/statvfs.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace shardlab {
namespace {

struct DriveWords {
  std::string what;
  std::string hint;
  bool of_the_machine = false;
};

DriveWords no_room(const DriveFailure& failure) {
  const char* hint =
      "free room on the drive, use more ranks or another drive (cluster.nvme.path), or swap less";
  if (failure.needed.value <= 0) return {"no room is left on the drive", hint};
  const std::string needed = to_string(failure.needed);
  if (failure.free.value < 0) return {fmt::format("no room: {} are needed", needed), hint};
  return {fmt::format("no room: {} are needed, {} are free", needed, to_string(failure.free)), hint};
}

DriveWords words_of_failure(const DriveFailure& failure) {
  switch (failure.number) {
    case ENOENT:
    case ENOTDIR: return {"is gone", k_start_again};
    case ENOSPC: return no_room(failure);
    case EDQUOT:
      return {fmt::format("no room: this user's quota allows no {} more",
                          failure.needed.value > 0 ? to_string(failure.needed) : "byte"),
              "ask for a larger quota, or use another drive (cluster.nvme.path)"};
    case EFBIG:
      return {"would be larger than this process or the file system allows",
              "raise the limit (ulimit -f), or swap to another file system"};
    case EACCES:
    case EPERM:
      return {fmt::format("may not be {}: {}", failure.what, std::strerror(failure.number)),
              "give this user the right to read and write there (chmod, chown)", true};
    case EIO:
      return {fmt::format("cannot be {}: the drive reports an error ({})", failure.what,
                          std::strerror(failure.number)),
              "look into the kernel's log (dmesg) and ask the drive itself (smartctl -a, nvme smart-log)",
              true};
    case EROFS:
      return {fmt::format("cannot be {}: the file system is read-only", failure.what),
              "mount it to be written to; after errors of the drive the kernel stops writing (dmesg)", true};
    case ENODEV:
    case ENXIO:
    case ESTALE:
    case ENOTCONN:
    case EREMOTEIO:
      return {
          fmt::format("cannot be {}: its drive is gone ({})", failure.what, std::strerror(failure.number)),
          "see whether the drive is still there (lsblk, dmesg) and mounted (findmnt)", true};
    case ELOOP:
      return {"is a link, and none is followed here",
              "remove it: whoever may write to this folder could let the run write elsewhere"};
    case EMFILE:
    case ENFILE:
      return {fmt::format("cannot be {}: too many files are open", failure.what),
              "raise the limit of open files (ulimit -n)", true};
    case EFAULT:
      return {fmt::format("cannot be {}: the kernel cannot reach the memory", failure.what),
              "memory that is swapped must be ordinary or pinned memory of this process"};
    default:
      return {fmt::format("cannot be {}: {}", failure.what, std::strerror(failure.number)),
              "look into the kernel's log (dmesg)", true};
  }
}

}  // namespace

const char* const k_start_again = "start the run again, and keep other programs away from its folder";

Place swap_place(const std::string& path, int rank) {
  Place place = in_file(path);
  place.rank = rank;
  return place;
}

Bytes free_bytes(int descriptor) {
  struct statvfs status {};
  if (::fstatvfs(descriptor, &status) != 0) return {-1};
  return {static_cast<std::int64_t>(status.f_bavail) * static_cast<std::int64_t>(status.f_frsize)};
}

Error drive_error(Place place, const DriveFailure& failure) {
  DriveWords words = words_of_failure(failure);
  return {failure.kind, std::move(place), std::move(words.what), std::move(words.hint),
          words.of_the_machine ? ErrorCode::unreadable : ErrorCode::none};
}

}  // namespace shardlab

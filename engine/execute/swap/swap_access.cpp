#include "engine/execute/swap/swap_access.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "engine/execute/machine.h"
#include "engine/execute/swap/drive_failure.h"

namespace shardlab {

Result<OwnedDescriptor> open_drive_folder(const std::string& path) {
  OwnedDescriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.is_open()) return folder;
  const char* const hint = "make it, or name another folder of the drive (cluster.nvme.path)";
  if (errno == ENOENT) return bad_input(in_file(path), "no such folder", hint);
  if (errno == ENOTDIR) return bad_input(in_file(path), "is no folder", hint);
  return fail(drive_error(in_file(path), {errno, "opened", {}, {-1}, ErrorKind::not_possible}));
}

OwnedDescriptor open_folder_at(int parent, const std::string& name) {
  return OwnedDescriptor(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

std::string foreign_folder(int parent, const std::string& name) {
  struct stat status {};
  if (::fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT ? "" : fmt::format("cannot be looked at: {}", std::strerror(errno));
  if (S_ISLNK(status.st_mode)) return "is a link, not a folder of shardlab's own";
  if (!S_ISDIR(status.st_mode)) return "is no folder";
  return status.st_uid == ::geteuid() ? "" : "belongs to another user";
}

bool is_this_host(std::string_view said) {
  const std::string own = host_identity();
  const auto name = [](std::string_view host) { return host.substr(0, host.find(' ')); };
  const auto kernel = [](std::string_view host) {
    return host.substr(std::min(host.find(' '), host.size()));
  };
  if (name(said) == name(own)) return true;
  return kernel(said).size() > 1 && kernel(said) == kernel(own);
}

}  // namespace shardlab

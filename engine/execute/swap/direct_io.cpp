#include "engine/execute/swap/direct_io.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "engine/execute/swap/aligned_memory.h"
#include "engine/execute/swap/drive_failure.h"
#include "engine/execute/swap/owned_descriptor.h"

namespace shardlab {
namespace {

constexpr const char* k_tried_file = ".direct";

std::string kind_of_file_system(int folder) {
  struct statfs status {};
  if (::fstatfs(folder, &status) != 0) return "the file system";
  switch (static_cast<unsigned long>(status.f_type)) {
    case TMPFS_MAGIC: return "tmpfs";
    case RAMFS_MAGIC: return "ramfs";
    case OVERLAYFS_SUPER_MAGIC: return "overlayfs";
    case NFS_SUPER_MAGIC: return "NFS";
    case FUSE_SUPER_MAGIC: return "FUSE";
    case EXT4_SUPER_MAGIC: return "ext4";
    case XFS_SUPER_MAGIC: return "XFS";
    case BTRFS_SUPER_MAGIC: return "Btrfs";
    default: return fmt::format("a file system of kind 0x{:x}", static_cast<unsigned long>(status.f_type));
  }
}

// 0, or the errno of what failed.
int try_page(int folder) {
  const OwnedDescriptor file(::openat(folder, k_tried_file,
                                      O_RDWR | O_CREAT | O_EXCL | O_DIRECT | O_NOFOLLOW | O_CLOEXEC,
                                      S_IRUSR | S_IWUSR));
  if (!file.is_open()) return errno;
  AlignedMemory memory;
  std::byte* const page = memory.room_for(k_swap_page);
  if (page == nullptr) return ENOMEM;
  std::memset(page, 0, static_cast<std::size_t>(k_swap_page));
  if (::pwrite(file.get(), page, static_cast<std::size_t>(k_swap_page), 0) != k_swap_page) return errno;
  return ::pread(file.get(), page, static_cast<std::size_t>(k_swap_page), 0) == k_swap_page ? 0 : errno;
}

}  // namespace

Result<DirectAccess> try_direct_access(int folder, const std::string& path, int rank) {
  errno = 0;
  const int failed = try_page(folder);
  ::unlinkat(folder, k_tried_file, 0);
  if (failed == 0) return DirectAccess{true, {}};
  if (failed == EINVAL || failed == EOPNOTSUPP) return DirectAccess{false, kind_of_file_system(folder)};
  return fail(drive_error(swap_place(path, rank),
                          {failed, "written", {k_swap_page}, free_bytes(folder), ErrorKind::not_possible}));
}

}  // namespace shardlab

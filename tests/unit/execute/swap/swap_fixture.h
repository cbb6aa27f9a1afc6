// Drives in folders of their own, and memory whose bytes tell where they lie.
#pragma once

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/execute/swap/aligned_memory.h"
#include "engine/execute/swap/owned_descriptor.h"
#include "engine/execute/swap/swap_drive.h"
#include "engine/execute/swap/uring_engine.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab::test {

// Those that this build and machine have.
inline std::vector<SwapMechanism> swap_mechanisms() {
  if (open_uring_engine(1)) return {SwapMechanism::io_uring, SwapMechanism::threads};
  WARN("not tested: there is no io_uring here");
  return {SwapMechanism::threads};
}

inline SwapOptions swap_options(const std::filesystem::path& folder,
                                std::optional<SwapMechanism> mechanism = SwapMechanism::threads) {
  SwapOptions options;
  options.path = folder.string();
  options.run = "test-run";
  options.mechanism = mechanism;
  return options;
}

inline std::unique_ptr<SwapDrive> open_swap(const SwapOptions& options) {
  auto drive = SwapDrive::open(options);
  REQUIRE_OK(drive);
  return *std::move(drive);
}

// A span that begins `shift` bytes after a page.
class SwapMemory {
 public:
  explicit SwapMemory(std::int64_t bytes, std::int64_t shift = 0) : bytes_(bytes), shift_(shift) {
    if (memory_.room_for(bytes + shift + 1) == nullptr) throw std::bad_alloc();  // any thread may be here
    clear();
  }
  std::span<std::byte> span() {
    return {memory_.room_for(bytes_ + shift_ + 1) + shift_, static_cast<std::size_t>(bytes_)};
  }
  void clear() { std::memset(memory_.room_for(1), 0xee, static_cast<std::size_t>(bytes_ + shift_ + 1)); }
  void fill(unsigned seed) {
    for (std::byte& byte : span())
      byte = static_cast<std::byte>((seed = seed * 1664525U + 1013904223U) >> 24);
  }
  // Whether what lies beside the span is as clear() left it.
  bool is_clear_around() {
    const std::byte* all = memory_.room_for(1);
    for (std::int64_t i = 0; i < shift_; ++i)
      if (all[i] != std::byte{0xee}) return false;
    return all[bytes_ + shift_] == std::byte{0xee};
  }
  bool equals(SwapMemory& other) {
    return bytes_ == other.bytes_ &&
           std::memcmp(span().data(), other.span().data(), static_cast<std::size_t>(bytes_)) == 0;
  }

 private:
  AlignedMemory memory_;
  std::int64_t bytes_, shift_;
};

// Bytes of a file, past the drive that it belongs to.
inline std::string bytes_at(const std::filesystem::path& file, std::int64_t offset, std::size_t count) {
  const OwnedDescriptor open(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  std::string bytes(count, '\0');
  REQUIRE(::pread(open.get(), bytes.data(), count, offset) == static_cast<ssize_t>(count));
  return bytes;
}
inline void put_bytes(const std::filesystem::path& file, std::int64_t offset, const std::string& bytes) {
  const OwnedDescriptor open(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  REQUIRE(::pwrite(open.get(), bytes.data(), bytes.size(), offset) == static_cast<ssize_t>(bytes.size()));
}

// A file system of its own, where this user may mount one.
class MountedFolder {
 public:
  MountedFolder(const char* kind, const char* options)
      : is_mounted_(::mount("shardlab", folder_.path().c_str(), kind, 0, options) == 0) {
    if (!is_mounted_) WARN("not tested: " << kind << " cannot be mounted here: " << std::strerror(errno));
  }
  ~MountedFolder() {
    if (is_mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  bool is_mounted() const { return is_mounted_; }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
  const bool is_mounted_;
};

}  // namespace shardlab::test

// A database that may be deleted, replaced, locked or damaged while it is open. Private to this folder.
//
// Belongs to one thread.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <tuple>

#include "engine/store/run_store.h"

namespace shardlab::view {

enum class FileChange {
  none,
  again,     // the same, but the last reading failed
  content,   // written to, or there for the first time
  replaced,  // another file has its name: runs of the same number are other runs
  absent,    // it is not there, as the first look finds
  deleted,   // it was there
};

class WatchedStore {
 public:
  WatchedStore(std::filesystem::path path, std::chrono::milliseconds patience)
      : path_(std::move(path)), patience_(patience) {}

  // Since the last look. A connection to a file that is gone or another one is closed.
  FileChange look();

  // Open and of the file that is there now; an Error when that cannot be.
  Result<RunStore*> store();

  // After an error: the next store() opens anew, and the next look() says that there is something to read.
  void close();

  const std::filesystem::path& path() const { return path_; }

 private:
  struct Time {
    std::int64_t seconds = 0;
    std::uint32_t nanoseconds = 0;
    friend bool operator==(const Time&, const Time&) = default;
  };
  // Device, inode and birth say which file it is (a new file often gets the number of the one that was just
  // deleted; file systems that know no births say zero); size and time of change whether it was written to.
  struct Stamp {
    std::uint64_t device = 0, inode = 0;
    Time born;
    std::uint64_t size = 0;
    Time changed;
    bool same_file(const Stamp& other) const {
      return device == other.device && inode == other.inode && born == other.born;
    }
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  static std::optional<Stamp> stamp_of(const std::filesystem::path& path);

  std::filesystem::path path_;
  std::chrono::milliseconds patience_;
  std::optional<Stamp> seen_;
  bool read_again_ = true;  // the first look has something to tell in any case
  std::optional<RunStore> store_;
};

}  // namespace shardlab::view

#include "gui/view_model/watched_store.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <utility>

namespace shardlab::view {

std::optional<WatchedStore::Stamp> WatchedStore::stamp_of(const std::filesystem::path& path) {
  struct statx status {};
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_BASIC_STATS | STATX_BTIME, &status) != 0) return std::nullopt;
  const auto time = [](const statx_timestamp& each) { return Time{each.tv_sec, each.tv_nsec}; };
  Stamp stamp;
  stamp.device = std::uint64_t{status.stx_dev_major} << 32 | status.stx_dev_minor;
  stamp.inode = status.stx_ino;
  if ((status.stx_mask & STATX_BTIME) != 0) stamp.born = time(status.stx_btime);
  stamp.size = status.stx_size;
  stamp.changed = time(status.stx_mtime);
  return stamp;
}

FileChange WatchedStore::look() {
  const std::optional<Stamp> now = stamp_of(path_), before = std::exchange(seen_, now);
  const bool again = std::exchange(read_again_, false);
  if (!now) {
    store_.reset();
    return before ? FileChange::deleted : again ? FileChange::absent : FileChange::none;
  }
  if (before && !now->same_file(*before)) {
    store_.reset();
    return FileChange::replaced;
  }
  if (now != before) return FileChange::content;
  return again ? FileChange::again : FileChange::none;
}

Result<RunStore*> WatchedStore::store() {
  if (!store_) {
    SHARDLAB_TRY(RunStore opened, RunStore::open(path_, OpenMode::existing, patience_));
    store_.emplace(std::move(opened));
  }
  return &*store_;
}

void WatchedStore::close() {
  store_.reset();
  read_again_ = true;
}

}  // namespace shardlab::view

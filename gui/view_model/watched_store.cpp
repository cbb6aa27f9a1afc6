#include "gui/view_model/watched_store.h"

#include <sys/stat.h>

#include <utility>

namespace shardlab::view {

std::optional<WatchedStore::Stamp> WatchedStore::stamp_of(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return Stamp{status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
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
  return again || now != before ? FileChange::content : FileChange::none;
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

// The database that the window has open, which may be another one tomorrow; one for all panels.
#pragma once

#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <vector>

#include "gui/view_model/store_reader.h"

namespace shardlab::view {

class RunLibrary {
 public:
  // `wake` is called by other threads when there is news; may be empty.
  explicit RunLibrary(std::function<void()> wake = {}) : wake_(std::move(wake)) {}

  // Opens another database; the same path again does nothing. An empty path: none. Does not wait for what is
  // being read of the one before: that ends on a thread of its own.
  void open(const std::filesystem::path& path);
  const std::filesystem::path& path() const { return path_; }

  // Takes what is new; true when there was any. Never waits.
  bool poll() { return reader_ && reader_->poll(); }
  const StoreView& view() const { return reader_ ? reader_->view() : nothing_; }
  bool busy() const { return reader_ && reader_->busy(); }
  // The reader of the open database; null while none is open.
  StoreReader* reader() { return reader_.get(); }

  // The runs of these ids that are loaded; asks for those that are not.
  std::vector<LoadedRunPtr> loaded(const std::vector<RunId>& ids);

 private:
  std::function<void()> wake_;
  std::filesystem::path path_;
  StoreView nothing_;
  std::unique_ptr<StoreReader> reader_;
  std::vector<std::future<void>> ending_;  // readers of databases before
};

}  // namespace shardlab::view

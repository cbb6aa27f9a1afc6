#include "gui/view_model/run_library.h"

#include <chrono>

namespace shardlab::view {

void RunLibrary::open(const std::filesystem::path& path) {
  if (path == path_) return;
  path_ = path;
  std::erase_if(ending_, [](const std::future<void>& end) {
    return end.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  });
  if (reader_)
    ending_.push_back(
        std::async(std::launch::async, [before = std::move(reader_)]() mutable { before.reset(); }));
  if (path.empty()) return;
  StoreReader::Options options;
  options.wake = wake_;
  reader_ = std::make_unique<StoreReader>(path, std::move(options));
}

std::vector<LoadedRunPtr> RunLibrary::loaded(const std::vector<RunId>& ids) {
  std::vector<LoadedRunPtr> runs;
  if (!reader_) return runs;
  reader_->keep(ids);
  for (const RunId id : ids) {
    const auto found = reader_->view().loaded.find(id);
    if (found != reader_->view().loaded.end())
      runs.push_back(found->second);
    else if (reader_->view().failed.count(id) == 0)
      reader_->load(id);
  }
  return runs;
}

}  // namespace shardlab::view

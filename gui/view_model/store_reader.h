// Reads the database of runs on a thread of its own, so that a frame never waits for a query, a lock or a
// disk.
//
// The frame's thread asks and polls; the answers arrive in a StoreView. Failures are values in it: what was
// read before stays visible, and reading is tried again until it works.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/trace/run_entry.h"
#include "gui/view_model/loaded_run.h"

namespace shardlab::view {

using RunEntries = std::shared_ptr<const std::vector<RunEntry>>;

// What is known of the database; belongs to the frame's thread.
struct StoreView {
  RunEntries runs = std::make_shared<const std::vector<RunEntry>>();  // newest first; never null
  std::optional<Error> trouble;  // why `runs` may be out of date; gone when it is read again
  std::map<RunId, LoadedRunPtr> loaded;
  std::map<RunId, Error> failed;       // runs that could not be loaded
  std::optional<Error> change_failed;  // the last tag or note that could not be written
  std::uint64_t changes_answered = 0;  // tags and notes that were written or could not be
  bool read = false;                   // whether the list was read at least once
  std::uint64_t revision = 0;          // grows with every change of the above
};

class StoreReader {
 public:
  struct Options {
    std::chrono::milliseconds look_every{500};  // for changes by other programs
    std::chrono::milliseconds patience{1000};   // with another program's lock, before it is told
    std::function<void()> wake{};  // called by the reader's thread when there is news; may be empty
  };

  explicit StoreReader(std::filesystem::path path);
  StoreReader(std::filesystem::path path, Options options);
  // Waits for the query under way.
  ~StoreReader();
  StoreReader(const StoreReader&) = delete;
  StoreReader& operator=(const StoreReader&) = delete;

  const std::filesystem::path& path() const { return path_; }

  // None of these waits for the database. Only load() of a run that was not asked for yet does anything.
  void load(RunId id);
  // Only a few loaded runs stay in memory; these stay in any case.
  void keep(std::vector<RunId> ids) { kept_ = std::move(ids); }
  void add_tag(RunId id, std::string tag);
  void remove_tag(RunId id, std::string tag);
  void set_note(RunId id, std::string note);

  // Takes what is new; true when there was any. Does not wait even for the reader's thread.
  bool poll();
  const StoreView& view() const { return view_; }
  // Whether something that was asked for is still to come, the first list of runs included.
  bool busy() const { return !asked_.empty() || (!view_.read && !view_.trouble); }

  // Waits until everything is answered and the database was looked at once more; for pictures and tests.
  void settle();

 private:
  struct News;
  struct Change {
    enum class Kind { add_tag, remove_tag, set_note } kind;
    RunId id;
    std::string text;
  };
  struct Requests {
    std::vector<RunId> loads;
    std::vector<Change> changes;
    bool look = false;
    bool empty() const { return loads.empty() && changes.empty() && !look; }
  };

  void ask(Change change);
  void work();
  void take(News news);
  void make_room();

  std::filesystem::path path_;
  Options options_;
  StoreView view_;
  std::vector<RunId> asked_;  // loads that are not answered yet
  std::vector<RunId> kept_;

  std::mutex mutex_;
  std::condition_variable changed_;
  Requests requests_;           // guarded by mutex_, as is what follows
  std::unique_ptr<News> news_;  // null: none
  bool working_ = true;         // until the first look is over
  bool stopping_ = false;
  std::thread thread_;  // last: starts when everything else is there
};

}  // namespace shardlab::view

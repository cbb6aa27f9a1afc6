// A search on a thread of its own: begun, watched, stopped, gone on with.
//
// What it simulates is kept beside its file, as `shardlab search` does, so that a search which was stopped
// goes on where it ended; results belong to the program that made them, so neither takes those of the other.
// Belongs to the frame's thread; nothing waits but the destructor and start(), for the combinations that are
// being simulated just then.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/base/result.h"
#include "simulator/search/evaluate.h"
#include "simulator/search/question/search_question.h"
#include "simulator/search/search.h"

namespace shardlab::view {

// What a search came to. Candidates point into the question.
struct SearchOutcome {
  SearchQuestion question;
  SearchResult result;
  std::optional<Error> error;  // then the result is empty
  bool stopped = false;        // before it was through: the best so far
};

class SearchJob {
 public:
  SearchJob() = default;
  SearchJob(const SearchJob&) = delete;
  SearchJob& operator=(const SearchJob&) = delete;
  ~SearchJob();

  // `wake` is called on the other thread when there is something to show; both functions may be empty.
  void start(std::filesystem::path file, CalibrationFor calibration_for, std::function<void()> wake);
  void stop() { stopping_ = true; }

  bool running() const { return running_; }
  SearchProgress progress() const;
  // What ended last; null until something did. Another pointer when it is another one.
  std::shared_ptr<const SearchOutcome> outcome() const;

 private:
  void run(const std::filesystem::path& file, const CalibrationFor& calibration_for,
           const std::function<void()>& wake);
  void end();

  std::thread thread_;
  std::atomic<bool> running_ = false, stopping_ = false;
  mutable std::mutex mutex_;  // of the next two
  SearchProgress progress_;
  std::shared_ptr<const SearchOutcome> outcome_;
};

}  // namespace shardlab::view

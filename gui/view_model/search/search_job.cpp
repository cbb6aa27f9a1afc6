#include "gui/view_model/search/search_job.h"

#include <algorithm>
#include <utility>

#include "simulator/search/question/read_question.h"
#include "simulator/search/result_file.h"

namespace shardlab::view {
namespace {

// One processor is left for the window.
int threads_beside_the_window() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1);
}

Status search_into(SearchOutcome& outcome, const std::filesystem::path& file,
                   const CalibrationFor& calibration_for, SearchOptions options) {
  SHARDLAB_TRY(outcome.question, read_question(file, {}));
  SHARDLAB_TRY(const SearchSpace space, SearchSpace::of(outcome.question));
  ResultFile kept;
  // Where nothing can be written the search goes on without.
  (void)kept.open(file.string() + ".results");
  Evaluator evaluator(outcome.question.base, calibration_for, kept);
  SHARDLAB_TRY(outcome.result, search(space, evaluator, options));
  return {};
}

}  // namespace

SearchJob::~SearchJob() {
  end();
}

void SearchJob::end() {
  stop();
  if (thread_.joinable()) thread_.join();
}

void SearchJob::start(std::filesystem::path file, CalibrationFor calibration_for,
                      std::function<void()> wake) {
  end();
  stopping_ = false;
  running_ = true;
  {
    const std::scoped_lock lock(mutex_);
    progress_ = {};
  }
  thread_ = std::thread([this, file = std::move(file), calibration_for = std::move(calibration_for),
                         wake = std::move(wake)] { run(file, calibration_for, wake); });
}

void SearchJob::run(const std::filesystem::path& file, const CalibrationFor& calibration_for,
                    const std::function<void()>& wake) {
  SearchOptions options;
  options.threads = threads_beside_the_window();
  options.stop = [this] { return stopping_.load(); };
  options.progress = [&](const SearchProgress& now) {
    const std::scoped_lock lock(mutex_);
    progress_ = now;
    if (wake) wake();
  };
  auto outcome = std::make_shared<SearchOutcome>();
  if (const Status status = search_into(*outcome, file, calibration_for, std::move(options)); !status)
    outcome->error = status.error();
  outcome->stopped = outcome->result.space.open > 0;
  {
    const std::scoped_lock lock(mutex_);
    outcome_ = std::move(outcome);
  }
  running_ = false;
  if (wake) wake();
}

SearchProgress SearchJob::progress() const {
  const std::scoped_lock lock(mutex_);
  return progress_;
}

std::shared_ptr<const SearchOutcome> SearchJob::outcome() const {
  const std::scoped_lock lock(mutex_);
  return outcome_;
}

}  // namespace shardlab::view

#include "gui/session/calibration_source.h"

#include <chrono>
#include <cstdint>

#include "engine/store/run_store.h"

namespace shardlab::gui {
namespace {

Result<std::vector<std::string>> read_calibrations(const std::filesystem::path& file) {
  std::vector<std::string> texts;
  // Nothing was calibrated yet: no file, or one that another program is just making.
  std::error_code ignored;
  constexpr auto k_none = static_cast<std::uintmax_t>(-1);
  const std::uintmax_t size = std::filesystem::file_size(file, ignored);
  if ((size == 0 || size == k_none) && !std::filesystem::is_directory(file, ignored)) return texts;
  SHARDLAB_TRY(const RunStore store, RunStore::open(file, OpenMode::existing));
  SHARDLAB_TRY(const std::vector<CalibrationRecord> records, store.calibrations());
  for (const CalibrationRecord& record : records) texts.push_back(record.text);
  return texts;
}

template <typename T>
bool is_ready(const std::future<T>& future) {
  return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

std::optional<std::filesystem::file_time_type> changed_at(const std::filesystem::path& file) {
  std::error_code error;
  const auto time = std::filesystem::last_write_time(file, error);
  return error ? std::nullopt : std::optional(time);
}

}  // namespace

void CalibrationSource::set_database(std::filesystem::path file) {
  std::erase_if(ending_, is_ready<Read>);
  if (reading_.valid()) ending_.push_back(std::move(reading_));
  file_ = std::move(file);
  looked_ = false;
}

bool CalibrationSource::poll(double now) {
  const bool changed = finish();
  if (reading_.valid() || (looked_ && now - last_look_ < k_look_every_seconds)) return changed;
  last_look_ = now;
  const auto time = changed_at(file_);
  if (looked_ && time == read_at_change_) return changed;
  looked_ = true;
  read_at_change_ = time;
  reading_ = std::async(std::launch::async, read_calibrations, file_);
  return changed;
}

bool CalibrationSource::finish() {
  if (!reading_.valid() || !is_ready(reading_)) return false;
  auto read = reading_.get();
  const auto texts_before = std::exchange(texts_, read ? *read : std::vector<std::string>());
  const auto problem_before = std::exchange(problem_, read ? std::nullopt : std::optional(read.error()));
  return texts_ != texts_before || problem_ != problem_before;
}

void CalibrationSource::wait() {
  if (reading_.valid()) reading_.wait();
}

}  // namespace shardlab::gui

// The calibrations in a database, read on a thread of their own: the file may be locked, gone or broken, and
// is looked at again when it changes.
#pragma once

#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"

namespace shardlab::gui {

class CalibrationSource {
 public:
  static constexpr double k_look_every_seconds = 2;

  // Does not wait for what is being read of the one before.
  void set_database(std::filesystem::path file);

  // Starts reading when it is time to. True when texts() or problem() changed.
  bool poll(double now);

  const std::vector<std::string>& texts() const { return texts_; }  // newest first
  const std::optional<Error>& problem() const { return problem_; }
  const std::filesystem::path& database() const { return file_; }
  bool reading() const { return reading_.valid(); }
  // Waits until what is being read is read; for pictures and tests.
  void wait();

 private:
  using Read = Result<std::vector<std::string>>;
  bool finish();

  std::filesystem::path file_;
  std::optional<std::filesystem::file_time_type> read_at_change_;
  bool looked_ = false;
  double last_look_ = 0;
  std::future<Read> reading_;
  std::vector<std::future<Read>> ending_;  // they read earlier databases: nobody asks for them
  std::vector<std::string> texts_;
  std::optional<Error> problem_;
};

}  // namespace shardlab::gui

// A command of shardlab run as a child process and watched: a real run, a validation, a calibration, an
// import.
//
// The child is another program, so whatever happens to it (killed, out of memory, a defect) is a message
// here. Belongs to one thread; no call blocks for longer than reading what the child wrote.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "gui/view_model/job_output.h"

namespace shardlab {
class ChildProcess;  // engine/execute/child_process.h
}

namespace shardlab::view {

enum class JobKind : std::uint8_t { run, validate, calibrate, import_traces };
std::string_view to_string(JobKind kind);  // the command's name

struct JobRequest {
  std::filesystem::path program;  // shardlab
  JobKind kind = JobKind::run;
  std::filesystem::path scenario;  // empty for an import
  std::filesystem::path database;
  std::vector<std::string> overrides{};         // key=value
  std::vector<std::filesystem::path> traces{};  // of an import, one a rank
};

// The arguments after the program: what a person would type, and --progress json.
std::vector<std::string> job_arguments(const JobRequest& request);

enum class JobPhase : std::uint8_t { running, stopping, finished, failed, stopped };
std::string_view to_string(JobPhase phase);

class Job {
 public:
  // not_possible when the program cannot be started.
  static Result<std::unique_ptr<Job>> start(JobRequest request);
  // Ends the child if it still runs.
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // Reads what the child wrote since and whether it ended; true when anything changed.
  bool poll();
  // Asks it to end; after five seconds of polls it is killed.
  void stop();

  const JobRequest& request() const { return request_; }
  const JobOutput& output() const { return output_; }
  JobPhase phase() const { return phase_; }
  bool ended() const { return phase_ != JobPhase::running && phase_ != JobPhase::stopping; }
  // Why it failed; absent while it runs and when it did not.
  const std::optional<Error>& trouble() const { return trouble_; }
  // `validate` ended well but a tolerance was not met.
  bool verdict_not_met() const { return verdict_not_met_; }
  bool not_judged() const { return not_judged_; }  // other programs disturbed the run
  double seconds() const;                          // since the start, until the end
  int process() const { return process_id_; }

 private:
  explicit Job(JobRequest request);
  Status launch();
  bool read_log();
  void finish();

  JobRequest request_;
  std::filesystem::path log_;
  std::ifstream stream_;
  std::string partial_;
  std::unique_ptr<ChildProcess> child_;
  int process_id_ = 0;
  JobOutput output_;
  JobPhase phase_ = JobPhase::running;
  std::optional<Error> trouble_;
  bool verdict_not_met_ = false;
  bool not_judged_ = false;
  std::chrono::steady_clock::time_point started_;
  std::optional<std::chrono::steady_clock::time_point> ended_at_;
  std::optional<std::chrono::steady_clock::time_point> stop_asked_;
};

}  // namespace shardlab::view

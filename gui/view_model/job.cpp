#include "gui/view_model/job.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "engine/execute/child_process.h"

namespace shardlab::view {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds k_time_to_stop{5};
constexpr int k_exit_verdict_not_met = 1;
constexpr int k_exit_not_judged = 5;
constexpr std::size_t k_most_read_at_once = 1 << 18;  // bytes a poll

Result<fs::path> make_log_file() {
  std::error_code error;
  std::string pattern = (fs::temp_directory_path(error) / "shardlab-job-XXXXXX").string();
  const int descriptor = ::mkstemp(pattern.data());
  if (descriptor < 0)
    return not_possible(pattern, "no file can be made for what the command writes", "is the disk full?");
  ::close(descriptor);
  return fs::path(pattern);
}

// Its last words, when it did not end by an error of its own.
std::string last_line(const JobOutput& output) {
  for (auto line = output.lines.rbegin(); line != output.lines.rend(); ++line) {
    if (line->find_first_not_of(" \t\r") != std::string::npos) return *line;
  }
  return {};
}

Error ended_badly(const JobRequest& request, const ExitStatus& status, const JobOutput& output) {
  if (output.error) return *output.error;
  Error error{ErrorKind::run_failed, fmt::format("shardlab {}", to_string(request.kind)), to_string(status),
              ""};
  if (status.signal == SIGKILL) {
    error.what = "it was killed";
    error.hint = "if nobody did it on purpose the machine ran out of memory: ";
    error.hint += request.kind == JobKind::import_traces
                      ? "record fewer steps, without stacks and shapes"
                      : "lower train.micro_batch or model.sequence_length, or shard more";
  } else if (const std::string words = last_line(output); !words.empty()) {
    error.what += ", its last words: " + words;
  }
  return error;
}

}  // namespace

std::string_view to_string(JobKind kind) {
  switch (kind) {
    case JobKind::run: return "run";
    case JobKind::validate: return "validate";
    case JobKind::calibrate: return "calibrate";
    case JobKind::import_traces: return "import";
  }
  return "?";
}

std::string_view to_string(JobPhase phase) {
  switch (phase) {
    case JobPhase::running: return "running";
    case JobPhase::stopping: return "stopping";
    case JobPhase::finished: return "finished";
    case JobPhase::failed: return "failed";
    case JobPhase::stopped: return "stopped";
  }
  return "?";
}

std::vector<std::string> job_arguments(const JobRequest& request) {
  std::vector<std::string> arguments{std::string(to_string(request.kind))};
  if (request.kind == JobKind::calibrate && !request.scenario.empty()) arguments.emplace_back("--scenario");
  if (!request.scenario.empty()) arguments.push_back(request.scenario.string());
  for (const fs::path& trace : request.traces) arguments.push_back(trace.string());
  for (const std::string& each : request.overrides) {
    arguments.emplace_back("--set");
    arguments.push_back(each);
  }
  if (!request.database.empty()) {
    arguments.emplace_back("--db");
    arguments.push_back(request.database.string());
  }
  arguments.emplace_back("--progress");
  arguments.emplace_back("json");
  return arguments;
}

Job::Job(JobRequest request) : request_(std::move(request)), started_(Clock::now()) {}

Result<std::unique_ptr<Job>> Job::start(JobRequest request) {
  std::unique_ptr<Job> job(new Job(std::move(request)));
  SHARDLAB_CHECK_OK(job->launch());
  return job;
}

Status Job::launch() {
  SHARDLAB_TRY(log_, make_log_file());
  sigset_t mask;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  const ChildCommand command{request_.program, job_arguments(request_), current_environment(), log_};
  auto child = ChildProcess::start(command, mask);
  if (!child) {
    return not_possible(in_file(request_.program.string()), child.error().what,
                        "shardlab belongs beside shardlab-gui: build or install both");
  }
  process_id_ = child->id();
  child_ = std::make_unique<ChildProcess>(*child);
  return {};
}

Job::~Job() {
  if (child_ && !child_->poll()) {
    // Its ranks watch it and end with it.
    child_->send(SIGTERM);
    for (int i = 0; i < 50 && !child_->poll(); ++i) ::usleep(10'000);
    child_->send(SIGKILL);
    for (int i = 0; i < 50 && !child_->poll(); ++i) ::usleep(10'000);
  }
  std::error_code ignored;
  if (!log_.empty()) fs::remove(log_, ignored);
}

bool Job::read_log() {
  if (!stream_.is_open()) stream_.open(log_);
  stream_.clear();
  std::string chunk(k_most_read_at_once, '\0');
  stream_.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
  chunk.resize(static_cast<std::size_t>(stream_.gcount()));
  for (std::size_t at = 0; at < chunk.size();) {
    const std::size_t end = chunk.find('\n', at);
    partial_.append(chunk, at, end == std::string::npos ? end : end - at);
    if (end == std::string::npos) break;
    take_output_line(output_, partial_);
    partial_.clear();
    at = end + 1;
  }
  return !chunk.empty();
}

bool Job::poll() {
  if (ended()) return false;
  const bool over = child_->poll().has_value();  // before reading: then the reading finds all that it wrote
  bool news = read_log();
  if (over) {
    while (read_log()) {
    }
    if (!partial_.empty()) take_output_line(output_, std::exchange(partial_, {}));
    finish();
    news = true;
  } else if (stop_asked_ && Clock::now() - *stop_asked_ > k_time_to_stop) {
    child_->send(SIGKILL);
  }
  return news;
}

void Job::finish() {
  ended_at_ = Clock::now();
  const ExitStatus status = *child_->status();
  const bool has_verdict = request_.kind == JobKind::validate && status.signal == 0;
  verdict_not_met_ = has_verdict && status.code == k_exit_verdict_not_met;
  not_judged_ = has_verdict && status.code == k_exit_not_judged;
  if (status.good() || verdict_not_met_ || not_judged_) {
    phase_ = JobPhase::finished;
  } else if (stop_asked_) {
    phase_ = JobPhase::stopped;
  } else {
    phase_ = JobPhase::failed;
    trouble_ = ended_badly(request_, status, output_);
  }
}

void Job::stop() {
  if (phase_ != JobPhase::running) return;
  phase_ = JobPhase::stopping;
  stop_asked_ = Clock::now();
  child_->send(SIGTERM);
}

double Job::seconds() const {
  return std::chrono::duration<double>(ended_at_.value_or(Clock::now()) - started_).count();
}

}  // namespace shardlab::view

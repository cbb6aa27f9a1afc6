#include "engine/execute/explain_failure.h"

#include <algorithm>
#include <csignal>
#include <tuple>

#include <fmt/format.h>

#include "engine/base/input_file.h"
#include "engine/base/text/utf8.h"
#include "engine/execute/spool.h"

namespace shardlab {
namespace {

struct Report {
  RankOutcome outcome;
  std::optional<Error> error;  // the rank's own words
  std::int64_t steps = 0;      // finished
  bool out_of_memory = false;

  // Who is to blame: first who died of a signal or without a word, then who had to be stopped, then in the
  // order of ending.
  std::tuple<int, int> blame() const {
    if (outcome.status.good()) return {3, outcome.order};
    if (outcome.stopped_by_us) return {1, outcome.order};
    return {error ? 2 : 0, outcome.order};
  }
};

// The last one with anything in it; empty where there is none near the end, or no log.
std::string last_line(const std::filesystem::path& path) {
  constexpr FileKind k_end_of_log{"log", std::int64_t{64} << 10};
  constexpr std::size_t k_longest = 300;
  std::string text = read_end(path, k_end_of_log).value_or("");
  text.resize(text.find_last_not_of(" \t\r\n") + 1);  // to nothing where there is no such place
  return std::string(whole_characters(std::string_view(text).substr(text.rfind('\n') + 1), k_longest));
}

// The place of a rank's error without the rank, which the sentence names already.
std::string without_rank(const Report& report) {
  Error error = *report.error;
  if (error.place.rank == report.outcome.rank && !error.place.name.empty()) error.place.rank.reset();
  return where_text(error);
}

// How far the rank came; nothing for probes, which take no steps.
std::string after_steps(const Report& report, JobKind kind) {
  return kind == JobKind::train ? fmt::format(" after {} steps", report.steps) : "";
}

std::string sentence(const Report& report, const std::filesystem::path& run_directory, JobKind kind) {
  const std::string who = fmt::format("rank {}", report.outcome.rank);
  if (report.outcome.stopped_by_us)
    return fmt::format("{} did not answer{} and was stopped", who,
                       report.steps > 0 ? fmt::format(" after step {}", report.steps - 1) : "");
  if (report.error)
    return fmt::format("{} failed in {}: {}", who, without_rank(report), what_text(*report.error));
  const std::string words = last_line(rank_log_path(run_directory, report.outcome.rank));
  return fmt::format("{} ended{}: {}{}", who, after_steps(report, kind), to_string(report.outcome.status),
                     words.empty() ? "" : fmt::format(", its last words: {}", words));
}

// By the system when memory is short, which leaves no word.
bool was_killed(const Report& report) {
  return report.outcome.status.signal == SIGKILL && !report.outcome.stopped_by_us && !report.error;
}

// For somebody else's part, once another was the first to fail.
bool waited(const Report& report) {
  return report.error &&
         (report.error->code == ErrorCode::failed_in_step || report.error->code == ErrorCode::lost_peer);
}

std::vector<Report> read_reports(const WatchOutcome& outcome, const std::filesystem::path& run_directory) {
  std::vector<Report> reports;
  for (const RankOutcome& rank : outcome.ranks) {
    Report report{rank, {}, 0, false};
    if (const auto spool = read_spool(spool_path(run_directory, rank.rank))) {
      report.error = spool->error;
      report.out_of_memory = spool->out_of_memory.has_value();
      report.steps = static_cast<std::int64_t>(spool->steps.size());
    }
    reports.push_back(std::move(report));
  }
  std::sort(reports.begin(), reports.end(),
            [](const Report& a, const Report& b) { return a.blame() < b.blame(); });
  return reports;
}

}  // namespace

std::filesystem::path rank_log_path(const std::filesystem::path& run_directory, int rank) {
  return run_directory / fmt::format("rank-{}.log", rank);
}

Error explain_failure(const WatchOutcome& outcome, const std::filesystem::path& run_directory, JobKind kind) {
  const char* place = kind == JobKind::train ? "run" : "probes";
  std::string hint = fmt::format("the ranks' records are in {}", run_directory.string());
  if (outcome.interrupted) return {ErrorKind::run_failed, place, "interrupted", hint};
  const std::vector<Report> reports = read_reports(outcome, run_directory);
  const Report& first = reports.front();
  // Bad input and the like look the same on every rank: the error speaks for itself.
  const auto own = std::find_if(reports.begin(), reports.end(), [](const Report& r) {
    return r.error && r.error->kind != ErrorKind::run_failed;
  });
  if (own != reports.end()) return *own->error;
  if (first.error && !first.error->hint.empty()) hint = first.error->hint + "; " + hint;
  if (was_killed(first)) {
    hint =
        fmt::format("if nobody did it on purpose the machine ran out of memory: {}; {}",
                    kind == JobKind::train ? "lower train.micro_batch or model.sequence_length, or shard more"
                                           : "measure with fewer ranks",
                    hint);
  }
  std::string what = sentence(first, run_directory, kind);
  for (std::size_t i = 1; i < reports.size(); ++i) {
    if (reports[i].outcome.status.good()) continue;
    if (reports[i].out_of_memory && first.out_of_memory) {
      what += fmt::format("; so did rank {}", reports[i].outcome.rank);
    } else if (waited(reports[i])) {
      what += fmt::format("; rank {} waited in {}", reports[i].outcome.rank, without_rank(reports[i]));
    } else {
      what += "; " + sentence(reports[i], run_directory, kind);
    }
  }
  return {ErrorKind::run_failed, place, what, hint};
}

}  // namespace shardlab

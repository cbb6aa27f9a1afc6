#include "engine/doctor/log/launcher_report.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/base/lower_case.h"
#include "engine/base/text/log_lines.h"
#include "engine/base/text/log_numbers.h"

namespace shardlab {
namespace {

constexpr int k_number_end = 1 << 20;

bool holds(std::string_view text, std::string_view piece) {
  return text.find(piece) != std::string_view::npos;
}

std::optional<int> small(std::optional<std::int64_t> number) {
  if (!number || *number >= k_number_end || *number <= -k_number_end) return std::nullopt;
  return static_cast<int>(*number);
}

// Whether a line belongs to the list of failures: `[1]:`, `rank      : 3 (local_rank: 3)`, a rule of dashes.
bool is_of_list(std::string_view text) {
  constexpr std::array<std::string_view, 9> k_begins = {
      "[", "<", "-", "time ", "host ", "rank ", "exitcode ", "error_file", "traceback"};
  return std::any_of(k_begins.begin(), k_begins.end(),
                     [&](std::string_view begin) { return text.starts_with(begin); });
}

// The exit code of a process that was told to end: so a launcher ends those that are left after a failure.
constexpr int k_told_to_end = -15;

// The code as Python gives it: shells, containers and Slurm write 128 + the signal.
std::optional<int> exit_code_of(std::optional<int> written) {
  if (written && *written > 128 && *written < 160) return 128 - *written;
  return written;
}

// The signal of `terminated with signal SIGABRT` (torch.multiprocessing) and `died with <Signals.SIGABRT: 6>`
// (subprocess), negative.
std::optional<int> named_signal(std::string_view lower) {
  constexpr std::array<std::string_view, 2> k_keys = {"terminated with signal sig", "died with <signals.sig"};
  std::string_view name_on;
  for (const std::string_view key : k_keys) {
    const std::size_t at = lower.find(key);
    if (at != std::string_view::npos) name_on = lower.substr(at + key.size());
  }
  constexpr std::array<std::pair<std::string_view, int>, 7> k_signals = {
      {{"abrt", 6}, {"segv", 11}, {"kill", 9}, {"bus", 7}, {"term", 15}, {"fpe", 8}, {"ill", 4}}};
  for (const auto& [name, signal] : k_signals) {
    if (name_on.starts_with(name)) return -signal;
  }
  return std::nullopt;
}

// The signal of `srun: error: node1: task 3: Bus error (core dumped)`, negative.
std::optional<int> signal_of_srun(std::string_view lower) {
  constexpr std::array<std::pair<std::string_view, int>, 5> k_words = {{{": aborted", 6},
                                                                        {": bus error", 7},
                                                                        {": floating point exception", 8},
                                                                        {": segmentation fault", 11},
                                                                        {": illegal instruction", 4}}};
  const std::size_t task = lower.find(": task");
  if (!lower.starts_with("srun: error:") || task == std::string_view::npos) return std::nullopt;
  for (const auto& [word, signal] : k_words) {
    if (holds(lower.substr(task + 1), word)) return -signal;
  }
  return std::nullopt;
}

// What one line says of one process that ended: torchrun, DeepSpeed, Composer, Kubernetes, srun, mpirun.
std::optional<FirstFailure> failed_process(const SeenLine& kept, std::string_view lower) {
  constexpr std::array<std::string_view, 8> k_codes = {"failed (exitcode",          "exits with return code",
                                                       "crashed with exit code",    "exited with code",
                                                       "exited with exit code",     "exitcode",
                                                       "terminated with exit code", "non-zero exit status"};
  std::optional<int> code;
  for (const std::string_view key : k_codes) {
    if (!code) code = exit_code_of(small(integer_after(lower, key)));
  }
  if (const auto signal = small(integer_after(lower, "exited on signal"))) code = -*signal;
  if (const auto signal = named_signal(lower)) code = signal;
  if (const auto signal = signal_of_srun(lower)) code = signal;
  if (!code || *code == 0 || *code == k_told_to_end) return std::nullopt;
  std::optional<int> rank;
  for (const std::string_view key : {"local_rank", "rank ", "task ", "process "}) {
    if (!rank) rank = small(integer_after(lower, key));
  }
  return FirstFailure{kept, rank ? rank : kept.rank, code};
}

}  // namespace

void LauncherReport::enter(std::string_view text) {
  if (holds(text, "ChildFailedError")) {
    part_ = Part::head;
  } else if (holds(text, "Root Cause (first observed failure)")) {
    part_ = Part::root_cause;
  } else if (part_ == Part::head && text == "Failures:") {
    part_ = Part::later_failures;
  } else if (part_ == Part::later_failures && !is_of_list(text)) {
    part_ = Part::none;
  }
}

void LauncherReport::take_root_cause(const SeenLine& kept, std::string_view text) {
  if (!from_summary_) first_ = FirstFailure{kept, {}, {}};
  from_summary_ = true;
  if (!first_->rank && text.starts_with("rank ")) {
    first_->rank = small(integer_after(text, "rank"));
    first_->at = kept;
  }
  if (!first_->exit_code && text.starts_with("exitcode")) {
    first_->exit_code = small(integer_after(text, "exitcode"));
    part_ = Part::none;
  }
}

bool LauncherReport::take(const SeenLine& kept, std::string_view line) {
  const std::string_view text = without_spaces(line);
  enter(text);
  if (part_ == Part::later_failures) return true;
  if (part_ == Part::root_cause) {
    take_root_cause(kept, text);
  } else if (!first_) {
    first_ = failed_process(kept, in_lower_case(text));
    if (!first_ && part_ == Part::head) first_ = FirstFailure{kept, {}, {}};
  }
  return false;
}

}  // namespace shardlab

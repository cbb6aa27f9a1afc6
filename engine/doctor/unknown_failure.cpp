#include "engine/doctor/unknown_failure.h"

#include <fmt/format.h>

#include "engine/doctor/check_signs.h"
#include "engine/doctor/log/log_facts.h"

namespace shardlab {
namespace {

std::string_view signal_words(int signal) {
  switch (signal) {
    case 4: return "an illegal instruction";
    case 6: return "an abort";
    case 7: return "a bus error";
    case 8: return "an arithmetic error";
    case 9: return "killed";
    case 11: return "a segmentation fault";
    case 15: return "told to end";
    default: return "a signal";
  }
}

std::string who(const FirstFailure& failure) {
  return failure.rank ? fmt::format("Rank {}", *failure.rank) : std::string("A process");
}

// The launcher names the process that failed first, and nothing that it printed is here.
Finding silent_failure(const Case& facts, const FirstFailure& failure) {
  Finding finding;
  finding.title = "a process failed and did not say why";
  const int code = failure.exit_code.value_or(0);
  if (code < 0) {
    finding.message = fmt::format("{} ended first, by signal {} ({}), without a word of its own.",
                                  who(failure), -code, signal_words(-code));
    finding.fix = {
        FixKind::environment,
        {"PYTHONFAULTHANDLER=1"},
        "run again with Python's fault handler, which prints where it was; an operator that was compiled for "
        "another version of PyTorch, CUDA or the compiler is the usual reason"};
  } else {
    const std::string with = code > 0 ? fmt::format(" (exit code {})", code) : "";
    finding.message =
        fmt::format("{} failed first{}, and what it printed is not in this log.", who(failure), with);
    finding.fix = {
        FixKind::command,
        {},
        "look at that process's own output: torchrun --log-dir DIR --redirects 3 --tee 3 keeps a file for "
        "each "
        "rank, and @record of torch.distributed.elastic on main() puts the traceback into the summary"};
  }
  finding.evidence.push_back(evidence_of(facts, failure.at));
  return finding;
}

// ", raised in torch/optim/adam.py:12 (step), called from train.py:88 (main)", as far as it is known.
std::string raised_words(const LogFacts& log) {
  std::string words;
  if (!log.raised_in.empty()) words += ", raised in " + log.raised_in;
  if (!log.called_from.empty()) words += ", called from " + log.called_from;
  return words;
}

Finding unknown_line(const Case& facts) {
  Finding finding;
  const bool failure = facts.log->likely_is_failure;
  finding.title = failure ? "a failure that no rule knows" : "no rule knows this log";
  finding.message =
      failure ? fmt::format("{}{}.",
                            facts.log->traceback_is_cut ? "A traceback ends without its exception"
                                                        : "A failure that no rule knows",
                            raised_words(*facts.log))
              : "Nothing that a rule knows; if something is wrong, this line is most likely to matter.";
  finding.evidence.push_back(evidence_of(facts, *facts.log->likely));
  finding.fix = {FixKind::command,
                 {},
                 "read the log from this line upwards: the first traceback counts; the same words with the "
                 "name of the library often lead to its list of issues"};
  return finding;
}

// Whether the log has a report of a failure that no sign knows.
bool is_reported(const LogFacts& log) {
  const auto& first = log.first_failure;
  return log.likely && log.likely_is_failure && (!first || *log.likely != first->at);
}

}  // namespace

bool is_silent(const Case& facts) {
  return facts.log != nullptr && facts.log->first_failure && !is_reported(*facts.log);
}

std::optional<Finding> unknown_failure(const Case& facts) {
  if (facts.log == nullptr) return std::nullopt;
  const auto& first = facts.log->first_failure;
  const bool reported = is_reported(*facts.log);
  if (!facts.log->likely && !first) return std::nullopt;
  Finding finding = first && !reported ? silent_failure(facts, *first) : unknown_line(facts);
  finding.rule = k_unknown_rule;
  finding.severity = first || reported ? Severity::warning : Severity::info;
  finding.certainty = 0;
  finding.position = finding.evidence.front().line;
  return finding;
}

}  // namespace shardlab

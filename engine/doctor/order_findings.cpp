#include "engine/doctor/order_findings.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "engine/doctor/log/log_facts.h"

namespace shardlab {
namespace {

// Proposals, tuned on real messages (docs/doctor.md).
constexpr int k_sure = 50;                 // a cause that puts symptoms and consequences behind it
constexpr int k_accuses = 40;              // below it a finding is only worth knowing
constexpr int k_symptom = 20;              // taken off beside a cause
constexpr int k_consequence = 40;          // likewise
constexpr int k_late = 25;                 // taken off what comes much later than the first cause
constexpr std::int64_t k_much_later = 40;  // lines
constexpr std::int64_t k_beside = 12;      // lines between general words and the reason that follows them
constexpr int k_much_surer = 20;           // of two findings of one line the surer is shown as the finding
constexpr int k_surer = 12;                // by which a warning comes before errors
constexpr int k_first_failed = 8;          // added to what the rank said that failed first

bool accuses(const Finding& finding) {
  return finding.severity != Severity::info && finding.certainty >= k_sure;
}

bool has_surer_cause(const std::vector<Finding>& findings, const Finding& of) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& other) {
    return other.rule != of.rule && other.role < of.role && accuses(other);
  });
}

std::int64_t first_cause(const std::vector<Finding>& findings) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max() - k_much_later;
  for (const Finding& finding : findings) {
    if (finding.role == Role::cause && finding.severity == Severity::error && accuses(finding) &&
        finding.position > 0)
      first = std::min(first, finding.position);
  }
  return first;
}

// Whether another rule explains the same line much better.
bool is_explained_elsewhere(const std::vector<Finding>& findings, const Finding& of) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& other) {
    return other.rule != of.rule && other.position == of.position && other.position > 0 &&
           other.severity != Severity::info && other.certainty >= of.certainty + k_much_surer;
  });
}

// In a log that ends in errors a warning that is much surer than all of them is what they follow from: two
// devices without direct access, before the error of the library that asked for it.
bool is_warning_the_surest(const std::vector<Finding>& findings) {
  int errors = 0, warnings = 0;
  for (const Finding& finding : findings) {
    if (finding.severity == Severity::error) errors = std::max(errors, finding.certainty);
    if (finding.severity == Severity::warning) warnings = std::max(warnings, finding.certainty);
  }
  return warnings >= errors + k_surer;
}

bool is_of_rank(const Finding& finding, int rank) {
  return !finding.evidence.empty() && finding.evidence.front().rank == rank;
}

}  // namespace

void order_findings(std::vector<Finding>& findings, const Case& facts) {
  const std::vector<Finding> before = findings;
  const std::int64_t first = first_cause(before);
  const bool of_log = facts.log != nullptr;
  const auto first_rank =
      of_log && facts.log->first_failure ? facts.log->first_failure->rank : std::optional<int>();
  for (Finding& finding : findings) {
    if (finding.position > first + k_much_later) finding.certainty -= k_late;
    if (first_rank && is_of_rank(finding, *first_rank)) finding.certainty += k_first_failed;
    if (finding.role != Role::cause && has_surer_cause(before, finding)) {
      finding.certainty -= finding.role == Role::symptom ? k_symptom : k_consequence;
      if ((finding.role == Role::consequence || finding.position + k_beside > first) &&
          finding.severity != Severity::info) {
        finding.severity = Severity::info;
        finding.message += " Here it follows from what is named first.";
      }
    }
    if (is_explained_elsewhere(before, finding)) finding.severity = Severity::info;
    if (finding.certainty < k_accuses && finding.role == Role::cause) finding.severity = Severity::info;
  }
  const bool sure_warnings = of_log && is_warning_the_surest(findings);
  const auto key = [&](const Finding& finding) {
    const Severity severity =
        sure_warnings && finding.severity == Severity::warning ? Severity::error : finding.severity;
    return std::tuple(severity, -finding.certainty, finding.position);
  };
  std::stable_sort(findings.begin(), findings.end(),
                   [&](const Finding& a, const Finding& b) { return key(a) < key(b); });
}

}  // namespace shardlab

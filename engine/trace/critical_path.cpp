#include "engine/trace/critical_path.h"

#include <algorithm>

#include "engine/plan/transfers.h"

namespace shardlab {
namespace {

class PathFinder {
 public:
  PathFinder(const StepPlan& plan, const RankTrace& rank, bool host_computes)
      : plan_(plan),
        spans_(rank.spans),
        host_computes_(host_computes),
        places_(plan.instructions.size(), k_none) {
    for (std::size_t i = 0; i < spans_.size(); ++i)
      if (!spans_[i].skipped) places_[spans_[i].instruction.index()] = i;
  }

  std::vector<PathPiece> find() {
    std::optional<std::size_t> at = last();
    while (at) at = is_bound_by_host(*at) ? host_until(*at, spans_[*at].end) : step_back(*at);
    std::reverse(pieces_.begin(), pieces_.end());
    return std::move(pieces_);
  }

 private:
  static constexpr std::size_t k_none = ~std::size_t{0};

  const Instruction& instruction(std::size_t place) const {
    return plan_.instruction(spans_[place].instruction);
  }

  std::optional<std::size_t> last() const {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < spans_.size(); ++i)
      if (!spans_[i].skipped && (!found || spans_[i].end >= spans_[*found].end)) found = i;
    return found;
  }

  void add(std::optional<InstructionId> running, TimeInterval when,
           std::optional<InstructionId> issued = {}) {
    if (when.begin < when.end) pieces_.push_back({running, when, issued});
  }

  // Kernels that end as soon as the host has launched the last of them.
  bool is_bound_by_host(std::size_t place) const {
    const Instruction& self = instruction(place);
    if (host_computes_ || is_host_only(self.kind) || is_collective(self.kind)) return false;
    if (runs_on_host(plan_, self)) return false;
    const std::optional<Nanoseconds> next = next_issue(place);
    return next && *next == spans_[place].end;
  }

  std::optional<Nanoseconds> next_issue(std::size_t place) const {
    for (std::size_t i = place + 1; i < spans_.size(); ++i)
      if (!spans_[i].skipped) return spans_[i].issue;
    return std::nullopt;
  }

  // The instruction's own piece; then what it began after.
  std::optional<std::size_t> step_back(std::size_t place) {
    const Span& span = spans_[place];
    add(span.instruction, {span.start, span.end});
    if (span.start <= spans_.front().issue) return std::nullopt;
    if (const auto before = predecessor(place, span.start)) return before;
    return host_until(place, span.start);
  }

  // The host issued up to then, from where it last waited for the device or did work of its own; then what it
  // waited for, or that work.
  std::optional<std::size_t> host_until(std::size_t place, Nanoseconds until) {
    const InstructionId issued = spans_[place].instruction;
    if (host_computes_) return host_between(place, until);
    for (std::size_t i = place; i-- > 0;) {
      const Span& span = spans_[i];
      const bool own = runs_on_host(plan_, instruction(i));
      const bool waited = instruction(i).kind == InstructionKind::HostWait;
      if (span.skipped || span.end <= span.issue || span.end > until || !(own || waited)) continue;
      add(std::nullopt, {span.end, until}, issued);
      if (own) return i;
      const auto awaited = awaited_by(i, span.end);
      if (!awaited) add(std::nullopt, {spans_.front().issue, span.end}, span.instruction);
      return awaited;
    }
    add(std::nullopt, {spans_.front().issue, until}, issued);
    return std::nullopt;
  }

  // On processors: from the last thing that ended before.
  std::optional<std::size_t> host_between(std::size_t place, Nanoseconds until) {
    std::optional<std::size_t> before;
    for (std::size_t i = place; i-- > 0;) {
      const Span& span = spans_[i];
      if (span.skipped || span.end > until || span.start == span.end) continue;
      if (!before || span.end > spans_[*before].end) before = i;
    }
    const Nanoseconds from = before ? spans_[*before].end : spans_.front().issue;
    add(std::nullopt, {from, until}, spans_[place].instruction);
    return before;
  }

  // What ended then and stands before: only earlier instructions, so the search ends.
  std::optional<std::size_t> predecessor(std::size_t place, Nanoseconds when) const {
    if (const auto awaited = awaited_by(place, when)) return awaited;
    const Instruction& self = instruction(place);
    std::optional<std::size_t> in_group;
    for (std::size_t i = place; i-- > 0;) {
      if (spans_[i].skipped || spans_[i].end != when) continue;
      const Instruction& other = instruction(i);
      if (is_host_only(other.kind) && other.waits.empty()) continue;
      if (host_computes_ || other.stream == self.stream) return i;
      if (!in_group && is_collective(self.kind) && is_collective(other.kind) && other.group == self.group)
        in_group = i;
    }
    return in_group;
  }

  std::optional<std::size_t> awaited_by(std::size_t place, Nanoseconds when) const {
    for (const InstructionId wait : instruction(place).waits) {
      const std::size_t other = places_[wait.index()];
      if (other != k_none && other < place && spans_[other].end == when) return other;
    }
    return std::nullopt;
  }

  const StepPlan& plan_;
  const std::vector<Span>& spans_;
  bool host_computes_;
  std::vector<std::size_t> places_;  // in `spans_`, by instruction
  std::vector<PathPiece> pieces_;    // from the last
};

}  // namespace

std::vector<PathPiece> critical_path(const StepPlan& plan, const RankTrace& rank, bool host_computes) {
  return PathFinder(plan, rank, host_computes).find();
}

}  // namespace shardlab

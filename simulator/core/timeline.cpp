#include "simulator/core/timeline.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace shardlab {
namespace {

constexpr std::int64_t k_never = std::numeric_limits<std::int64_t>::max();

class Timeline {
 public:
  Timeline(const TimelineOptions& options, std::span<const TimedInstruction> instructions,
           std::vector<RunningPeriod>* periods)
      : options_(options),
        instructions_(instructions),
        periods_(periods),
        spans_(instructions.size()),
        states_(instructions.size()),
        awaited_(instructions.size(), false),
        streams_(options.streams),
        groups_(options.groups) {
    for (Queue& queue : streams_) queue.items.reserve(instructions.size());
    for (Queue& queue : groups_) queue.items.reserve(instructions.size());
    running_.reserve(options.streams);
    for (const TimedInstruction& instruction : instructions) {
      for (const InstructionId wait : instruction.waits) awaited_[wait.index()] = true;
    }
  }

  std::vector<Span> run() {
    while (true) {
      settle();
      const std::int64_t next = next_event();
      if (next == k_never) break;
      advance(next);
      end_finished();
    }
    return std::move(spans_);
  }

 private:
  enum class State : std::uint8_t { unissued, queued, running, ended };

  struct Queue {
    std::vector<std::uint32_t> items;  // issued, in order
    std::size_t head = 0;              // first that has not ended
    bool is_head(std::uint32_t item) const { return head < items.size() && items[head] == item; }
  };

  // 2^-20 ns at full speed. Of hours it does not fit into 64 bits.
  __extension__ using Work = __int128;

  struct Running {
    std::uint32_t item;
    Work remaining;
    std::int64_t earliest;  // the host is still issuing it until then
    Occupation occupation;
    std::int64_t rate = Contention::full;
  };

  // Everything that happens at this moment after the ends: the host before the heads of queues.
  void settle() {
    while (issue_next() || start_ready()) {
    }
  }

  bool synchronous() const { return options_.host == HostBehaviour::synchronous; }

  bool waits_ended(std::uint32_t item) const {
    const auto waits = instructions_[item].waits;
    return std::all_of(waits.begin(), waits.end(),
                       [&](InstructionId id) { return states_[id.index()] == State::ended; });
  }

  // The host takes the next instruction when it is free; says whether anything happened.
  bool issue_next() {
    if (next_ == instructions_.size() || now_ < host_free_ || host_computes_ > 0) return false;
    const auto item = static_cast<std::uint32_t>(next_);
    const TimedInstruction& instruction = instructions_[item];
    if (!reached_) {
      reached_ = true;
      spans_[item].instruction = InstructionId{item};
      spans_[item].issue = {now_};
    }
    if (blocks_host(item)) return false;
    reached_ = false;
    ++next_;
    host_free_ = now_ + instruction.issue.value;
    place(item);
    return true;
  }

  // The host waits before it can issue the instruction at all. A synchronous host does what it issues itself,
  // so it waits for all that goes before; only collectives of one group follow each other in the background.
  bool blocks_host(std::uint32_t item) const {
    const TimedInstruction& instruction = instructions_[item];
    if (!synchronous()) return instruction.occupation == Occupation::host_wait && !waits_ended(item);
    if (instruction.occupation == Occupation::collective) return waits_on_other_group(item);
    if (instruction.occupation == Occupation::drive) return waits_on_other_stream(item);
    const Queue& stream = streams_[instruction.stream];
    return !waits_ended(item) || stream.head < stream.items.size();
  }

  bool waits_on_other_group(std::uint32_t item) const {
    const TimedInstruction& instruction = instructions_[item];
    return std::any_of(instruction.waits.begin(), instruction.waits.end(), [&](InstructionId id) {
      const TimedInstruction& wait = instructions_[id.index()];
      const bool same_queue = wait.occupation == Occupation::collective && wait.group == instruction.group;
      return !same_queue && states_[id.index()] != State::ended;
    });
  }

  bool waits_on_other_stream(std::uint32_t item) const {
    const TimedInstruction& instruction = instructions_[item];
    return std::any_of(instruction.waits.begin(), instruction.waits.end(), [&](InstructionId id) {
      return instructions_[id.index()].stream != instruction.stream && states_[id.index()] != State::ended;
    });
  }

  void place(std::uint32_t item) {
    const TimedInstruction& instruction = instructions_[item];
    const bool immediate = instruction.occupation == Occupation::host_wait ||
                           (instruction.occupation == Occupation::nothing &&
                            (synchronous() || (instruction.waits.empty() && !awaited_[item])));
    if (immediate) {
      end_at_once(item);
      return;
    }
    states_[item] = State::queued;
    spans_[item].start = {now_ + instruction.launch.value};  // not before
    streams_[instruction.stream].items.push_back(item);
    if (instruction.occupation == Occupation::collective) groups_[instruction.group].items.push_back(item);
    if (synchronous() && instruction.occupation == Occupation::compute) ++host_computes_;
    dirty_ = true;
  }

  void end_at_once(std::uint32_t item) {
    Span& span = spans_[item];
    span.ready = span.start = span.end = {now_};
    states_[item] = State::ended;
    dirty_ = true;
  }

  // Starts the heads of queues that may start now; says whether one also ended at once.
  bool start_ready() {
    if (!dirty_) return false;
    dirty_ = false;
    for (Queue& stream : streams_) {
      if (stream.head < stream.items.size()) start_if_ready(stream.items[stream.head]);
    }
    return dirty_;
  }

  void start_if_ready(std::uint32_t item) {
    const TimedInstruction& instruction = instructions_[item];
    Span& span = spans_[item];
    if (states_[item] != State::queued || !waits_ended(item)) return;
    if (instruction.occupation == Occupation::collective && !groups_[instruction.group].is_head(item)) return;
    if (span.start.value > now_) {
      launching_ = std::min(launching_, span.start.value);
      return;
    }
    span.start = {now_};
    span.ready = ready_time(item);
    states_[item] = State::running;
    const std::int64_t issued = span.issue.value + instruction.issue.value;
    if (instruction.duration.value == 0 && issued <= now_) {
      end(item);
      return;
    }
    running_.push_back(
        {item, Work{instruction.duration.value} * Contention::full, issued, instruction.occupation});
    count_running(running_.back(), 1);
    rates_known_ = false;
  }

  Nanoseconds ready_time(std::uint32_t item) const {
    Nanoseconds ready = spans_[item].issue;
    for (const InstructionId wait : instructions_[item].waits)
      ready = std::max(ready, spans_[wait.index()].end);
    return ready;
  }

  void count_running(const Running& running, int change) {
    if (running.occupation == Occupation::collective) collectives_ += change;
    if (running.occupation == Occupation::compute) computes_ += change;
  }

  // The speeds of all that run, which hold until one of them ends or another starts.
  void find_rates() {
    if (rates_known_) return;
    rates_known_ = true;
    uses_.clear();
    for (const Running& running : running_) uses_.push_back(instructions_[running.item].uses);
    fair_rates(uses_, rates_);
    for (std::size_t i = 0; i < running_.size(); ++i) {
      const std::int64_t beside = contention_of(running_[i]);
      running_[i].rate = std::max<std::int64_t>(rates_[i] * beside / Contention::full, 1);
    }
  }

  std::int64_t contention_of(const Running& running) const {
    if (running.occupation == Occupation::drive) return Contention::full;
    if (running.occupation == Occupation::collective)
      return computes_ > 0 ? options_.contention.collective_beside_compute : Contention::full;
    return collectives_ > 0 ? options_.contention.compute_beside_collective : Contention::full;
  }

  // When its work is done at this speed.
  std::int64_t done(const Running& running) const {
    const Work needed = (running.remaining + running.rate - 1) / running.rate;
    return now_ + static_cast<std::int64_t>(std::min<Work>(needed, k_never - now_));
  }

  std::int64_t finish(const Running& running) const { return std::max(done(running), running.earliest); }

  std::int64_t next_event() {
    find_rates();
    std::int64_t next = launching_;
    if (next_ < instructions_.size() && host_free_ > now_) next = std::min(next, host_free_);
    for (const Running& running : running_) next = std::min(next, finish(running));
    return next;
  }

  // Until its work is done: it may not end yet because the host still issues it.
  void note_period(const Running& running, std::int64_t time) {
    if (periods_ == nullptr || running.remaining == 0 || time == now_) return;
    periods_->push_back({running.item, {now_}, {std::min(time, done(running))}, running.rate});
  }

  void advance(std::int64_t time) {
    for (Running& running : running_) {
      note_period(running, time);
      running.remaining = std::max<Work>(0, running.remaining - Work{time - now_} * running.rate);
    }
    now_ = time;
    if (launching_ <= now_) {
      launching_ = k_never;
      dirty_ = true;
    }
  }

  void end_finished() {
    for (std::size_t i = 0; i < running_.size();) {
      if (running_[i].remaining > 0 || running_[i].earliest > now_) {
        ++i;
        continue;
      }
      const Running finished = running_[i];
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      count_running(finished, -1);
      rates_known_ = false;
      end(finished.item);
    }
  }

  void end(std::uint32_t item) {
    const TimedInstruction& instruction = instructions_[item];
    spans_[item].end = {now_};
    states_[item] = State::ended;
    ++streams_[instruction.stream].head;
    if (instruction.occupation == Occupation::collective) ++groups_[instruction.group].head;
    if (synchronous() && instruction.occupation == Occupation::compute) --host_computes_;
    dirty_ = true;
  }

  const TimelineOptions& options_;
  std::span<const TimedInstruction> instructions_;
  std::vector<RunningPeriod>* periods_;
  std::vector<Span> spans_;
  std::vector<State> states_;
  std::vector<bool> awaited_;  // somebody waits for it: it is a point on its stream even without work
  std::vector<Queue> streams_;
  std::vector<Queue> groups_;
  std::vector<Running> running_;
  std::vector<ResourceUses> uses_;   // of what runs, for find_rates
  std::vector<std::int64_t> rates_;  // likewise
  std::int64_t now_ = 0;
  std::int64_t host_free_ = 0;        // when the host is done issuing
  std::int64_t launching_ = k_never;  // earliest launch of a queue head that waits for nothing else
  std::size_t next_ = 0;
  int host_computes_ = 0;  // issued by a synchronous host and not ended: 0 or 1
  int collectives_ = 0;    // running
  int computes_ = 0;       // running
  bool rates_known_ = true;
  bool reached_ = false;  // the host stands at next_ and has noted the time
  bool dirty_ = false;    // something was issued or ended since queues were last looked at
};

bool uses_what_there_is(const TimelineOptions& options, const TimedInstruction& instruction) {
  return std::all_of(instruction.uses.begin(), instruction.uses.end(), [&](const ResourceUse& use) {
    return use.resource < options.resources && use.share > 0 && use.share <= k_full_share;
  });
}

Status check(const TimelineOptions& options, std::span<const TimedInstruction> instructions) {
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const TimedInstruction& instruction = instructions[i];
    const bool in_range =
        instruction.stream < options.streams &&
        (instruction.occupation != Occupation::collective || instruction.group < options.groups);
    if (!in_range)
      return internal_error("run_timeline",
                            "instruction " + std::to_string(i) + " has an unknown stream or group");
    if (!uses_what_there_is(options, instruction)) {
      return internal_error(
          "run_timeline",
          "instruction " + std::to_string(i) + " takes of a resource that there is not, or not a part of it");
    }
    for (const InstructionId wait : instruction.waits) {
      if (wait.index() >= i) {
        return internal_error("run_timeline", "instruction " + std::to_string(i) + " waits for a later one");
      }
    }
  }
  return {};
}

}  // namespace

std::int64_t contention_rate(double fraction) {
  return std::llround(std::clamp(fraction, 0.01, 1.0) * static_cast<double>(Contention::full));
}

Result<std::vector<Span>> run_timeline(const TimelineOptions& options,
                                       std::span<const TimedInstruction> instructions,
                                       std::vector<RunningPeriod>* periods) {
  SHARDLAB_CHECK_OK(check(options, instructions));
  return Timeline(options, instructions, periods).run();
}

Nanoseconds timeline_duration(std::span<const Span> spans) {
  if (spans.empty()) return {};
  Nanoseconds first = spans.front().issue;
  Nanoseconds last = first;
  for (const Span& span : spans) last = std::max(last, span.end);
  return last - first;
}

}  // namespace shardlab

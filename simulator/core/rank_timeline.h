// One rank's host, streams and groups on a virtual clock that somebody else moves on.
//
// Owned by timeline.cpp, for a rank that stands for all, and by rank_timelines.cpp, for ranks that wait for
// each other. The owner's round: `advance` to the time of the next event, `end_finished`, `settle`. Not for
// use elsewhere; timeline.h says what the rules are.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "simulator/core/timeline.h"

namespace shardlab {

// What an instruction takes on one rank; the fields of TimedInstruction.
struct InstructionTimes {
  Nanoseconds duration, launch, issue;
};

// What the timelines of all ranks have in common.
struct TimelineShape {
  std::vector<char> awaited;                     // by instruction: somebody waits for it
  std::vector<std::size_t> on_stream, in_group;  // how many
};
TimelineShape shape_of(const TimelineOptions& options, std::span<const TimedInstruction> instructions);

class RankTimeline {
 public:
  static constexpr std::int64_t k_never = std::numeric_limits<std::int64_t>::max();

  // Everything is kept by reference. `times`: by instruction, in place of the instructions' own, or empty.
  // `met`: by group, whether other ranks take part that may come later; or empty.
  RankTimeline(const TimelineOptions& options, const TimelineShape& shape,
               std::span<const TimedInstruction> instructions, std::span<const InstructionTimes> times = {},
               std::span<const char> met = {}, std::vector<RunningPeriod>* periods = nullptr);

  std::int64_t now() const { return now_; }

  // Everything that happens at this moment after the ends: the host before the heads of queues.
  void settle();
  // k_never when nothing more happens without other ranks.
  std::int64_t next_event();
  // To no later than the next event.
  void advance(std::int64_t time);
  void end_finished();
  bool all_ended() const { return ended_ == instructions_.size(); }

  // Collectives of met groups: those that stand ready for the others, and those whose own work is done, since
  // the owner last cleared the lists. A collective works from `begin`, and is over with `end_together`.
  std::vector<std::uint32_t>& arrived() { return arrived_; }
  std::vector<std::uint32_t>& worked() { return worked_; }
  void begin(std::uint32_t item);
  void end_together(std::uint32_t item);

  std::vector<Span> take_spans() { return std::move(spans_); }

 private:
  enum class State : std::uint8_t { unissued, queued, running, ended };
  // Whether a collective still waits for other ranks, or is done but for them.
  enum class Phase : std::uint8_t { before, working, after };

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
    Phase phase = Phase::working;
    std::int64_t rate = Contention::full;
  };

  bool synchronous() const { return options_.host == HostBehaviour::synchronous; }
  InstructionTimes times_of(std::uint32_t item) const;
  bool meets_others(std::uint32_t item) const;
  bool waits_ended(std::uint32_t item) const;
  bool issue_next();
  bool blocks_host(std::uint32_t item) const;
  bool waits_on_other_group(std::uint32_t item) const;
  bool waits_on_other_stream(std::uint32_t item) const;
  void place(std::uint32_t item);
  void end_at_once(std::uint32_t item);
  bool start_ready();
  void start_if_ready(std::uint32_t item);
  Nanoseconds ready_time(std::uint32_t item) const;
  void start(std::uint32_t item);
  void end(std::uint32_t item);
  void count_running(const Running& running, int change);
  void enter(Running& running, Phase phase);
  Running& running_of(std::uint32_t item);
  ResourceUses uses_of(const Running& running);
  void find_rates();
  std::int64_t contention_of(const Running& running) const;
  std::int64_t done(const Running& running) const;
  std::int64_t finish(const Running& running) const;
  void note_period(const Running& running, std::int64_t time);

  const TimelineOptions& options_;
  const TimelineShape& shape_;
  std::span<const TimedInstruction> instructions_;
  std::span<const InstructionTimes> times_;
  std::span<const char> met_;
  std::vector<RunningPeriod>* periods_;
  std::vector<Span> spans_;
  std::vector<State> states_;
  std::vector<Queue> streams_;
  std::vector<Queue> groups_;
  std::vector<Running> running_;
  std::vector<ResourceUses> uses_;   // of what runs, for find_rates
  std::vector<ResourceUse> held_;    // of collectives that do not work, likewise
  std::vector<std::int64_t> rates_;  // likewise
  std::vector<std::uint32_t> arrived_, worked_;
  std::size_t ended_ = 0;
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

}  // namespace shardlab

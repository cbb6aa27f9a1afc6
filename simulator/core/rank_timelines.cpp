#include "simulator/core/rank_timelines.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace shardlab {
namespace {

// A collective of one meeting, of which there is one at a time: those of a group follow each other.
struct Meeting {
  const std::vector<int>* members = nullptr;
  std::uint32_t item = 0;
  std::size_t arrived = 0, worked = 0;
};

class RankTimelines {
 public:
  RankTimelines(const TimelineOptions& options, std::span<const TimedInstruction> instructions,
                std::span<const std::vector<InstructionTimes>> times, std::span<const GroupMeetings> meetings)
      : instructions_(instructions),
        shape_(shape_of(options, instructions)),
        groups_(meetings),
        scheduled_(times.size(), RankTimeline::k_never),
        is_touched_(times.size()),
        is_noted_(times.size()) {
    for (const GroupMeetings& group : meetings) {
      met_.push_back(group.members.empty() || group.members.front().size() <= 1 ? 0 : 1);
      first_meeting_.push_back(meetings_.size());
      for (const std::vector<int>& members : group.members) meetings_.push_back({&members, 0, 0, 0});
    }
    ranks_.reserve(times.size());
    for (const std::vector<InstructionTimes>& own : times)
      ranks_.emplace_back(options, shape_, instructions, own, met_);
  }

  Result<std::vector<std::vector<Span>>> run() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) touch(rank);
    go_on();
    while (!events_.empty()) {
      now_ = events_.top().first;
      end_what_is_due();
      go_on();
    }
    return spans();
  }

 private:
  using Event = std::pair<std::int64_t, std::uint32_t>;  // time, rank

  // First of everything at this moment: what ends without others, then what the last member has done.
  void end_what_is_due() {
    while (!events_.empty() && events_.top().first == now_) {
      const std::uint32_t rank = events_.top().second;
      events_.pop();
      if (scheduled_[rank] != now_) continue;  // another event took its place
      scheduled_[rank] = RankTimeline::k_never;
      ranks_[rank].advance(now_);
      ranks_[rank].end_finished();
      count_worked(rank);
      touch(rank);
    }
    end_meetings();
  }

  // Then hosts and heads of queues, until nothing more happens at this moment.
  void go_on() {
    while (!touched_.empty()) {
      const std::vector<std::uint32_t> touched = std::exchange(touched_, {});
      for (const std::uint32_t rank : touched) {
        is_touched_[rank] = 0;
        ranks_[rank].settle();
        count_arrived(rank);
        note(rank);
      }
      begin_meetings();
      end_meetings();
    }
    for (const std::uint32_t rank : noted_) {
      is_noted_[rank] = 0;
      schedule(rank);
    }
    noted_.clear();
  }

  void touch(std::size_t rank) { mark(rank, is_touched_, touched_); }
  // Its next event is to be asked for.
  void note(std::size_t rank) { mark(rank, is_noted_, noted_); }

  static void mark(std::size_t rank, std::vector<char>& is_marked, std::vector<std::uint32_t>& list) {
    if (std::exchange(is_marked[rank], 1) == 0) list.push_back(static_cast<std::uint32_t>(rank));
  }

  Meeting& meeting_of(std::uint32_t rank, std::uint32_t item) {
    const std::uint32_t group = instructions_[item].group;
    return meetings_[first_meeting_[group] + groups_[group].of_rank[rank]];
  }

  void count_arrived(std::uint32_t rank) {
    for (const std::uint32_t item : ranks_[rank].arrived()) {
      Meeting& meeting = meeting_of(rank, item);
      meeting.item = item;
      if (++meeting.arrived == meeting.members->size()) begun_.push_back(&meeting);
    }
    ranks_[rank].arrived().clear();
  }

  void count_worked(std::uint32_t rank) {
    for (const std::uint32_t item : ranks_[rank].worked()) {
      Meeting& meeting = meeting_of(rank, item);
      if (++meeting.worked == meeting.members->size()) over_.push_back(&meeting);
    }
    ranks_[rank].worked().clear();
  }

  void begin_meetings() {
    for (Meeting* const meeting : std::exchange(begun_, {})) {
      for (const int member : *meeting->members) {
        RankTimeline& rank = ranks_[static_cast<std::size_t>(member)];
        rank.advance(now_);
        rank.begin(meeting->item);
        count_worked(static_cast<std::uint32_t>(member));
        note(static_cast<std::size_t>(member));
      }
    }
  }

  void end_meetings() {
    for (Meeting* const meeting : std::exchange(over_, {})) {
      meeting->arrived = meeting->worked = 0;
      for (const int member : *meeting->members) {
        RankTimeline& rank = ranks_[static_cast<std::size_t>(member)];
        rank.advance(now_);
        rank.end_together(meeting->item);
        touch(static_cast<std::size_t>(member));
      }
    }
  }

  void schedule(std::uint32_t rank) {
    const std::int64_t next = ranks_[rank].next_event();
    if (next == scheduled_[rank]) return;
    scheduled_[rank] = next;
    if (next != RankTimeline::k_never) events_.emplace(next, rank);
  }

  Result<std::vector<std::vector<Span>>> spans() {
    std::vector<std::vector<Span>> all;
    all.reserve(ranks_.size());
    for (RankTimeline& rank : ranks_) {
      if (!rank.all_ended())
        return internal_error("run_rank_timelines", "ranks wait for each other for ever");
      all.push_back(rank.take_spans());
    }
    return all;
  }

  std::span<const TimedInstruction> instructions_;
  TimelineShape shape_;
  std::span<const GroupMeetings> groups_;
  std::vector<char> met_;                   // by group
  std::vector<std::size_t> first_meeting_;  // by group, in meetings_
  std::vector<Meeting> meetings_;
  std::vector<RankTimeline> ranks_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;  // some of them out of date
  std::vector<std::int64_t> scheduled_;                                    // by rank, the one that is not
  std::vector<Meeting*> begun_, over_;
  std::vector<std::uint32_t> touched_, noted_;
  std::vector<char> is_touched_, is_noted_;
  std::int64_t now_ = 0;
};

}  // namespace

Result<std::vector<std::vector<Span>>> run_rank_timelines(
    const TimelineOptions& options, std::span<const TimedInstruction> instructions,
    std::span<const std::vector<InstructionTimes>> times, std::span<const GroupMeetings> meetings) {
  SHARDLAB_CHECK_OK(check_timeline(options, instructions));
  const bool complete = meetings.size() == options.groups &&
                        std::all_of(times.begin(), times.end(),
                                    [&](const auto& own) { return own.size() == instructions.size(); }) &&
                        std::all_of(meetings.begin(), meetings.end(), [&](const GroupMeetings& group) {
                          return group.of_rank.size() == times.size();
                        });
  if (!complete) return internal_error("run_rank_timelines", "times or meetings are not those of the ranks");
  return RankTimelines(options, instructions, times, meetings).run();
}

}  // namespace shardlab

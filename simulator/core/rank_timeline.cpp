#include "simulator/core/rank_timeline.h"

#include <algorithm>

namespace shardlab {

TimelineShape shape_of(const TimelineOptions& options, std::span<const TimedInstruction> instructions) {
  TimelineShape shape;
  shape.awaited.resize(instructions.size());
  shape.on_stream.resize(options.streams);
  shape.in_group.resize(options.groups);
  for (const TimedInstruction& instruction : instructions) {
    ++shape.on_stream[instruction.stream];
    if (instruction.occupation == Occupation::collective) ++shape.in_group[instruction.group];
    for (const InstructionId wait : instruction.waits) shape.awaited[wait.index()] = 1;
  }
  return shape;
}

RankTimeline::RankTimeline(const TimelineOptions& options, const TimelineShape& shape,
                           std::span<const TimedInstruction> instructions,
                           std::span<const InstructionTimes> times, std::span<const char> met,
                           std::vector<RunningPeriod>* periods)
    : options_(options),
      shape_(shape),
      instructions_(instructions),
      times_(times),
      met_(met),
      periods_(periods),
      spans_(instructions.size()),
      states_(instructions.size()),
      streams_(options.streams),
      groups_(options.groups) {
  for (std::size_t i = 0; i < streams_.size(); ++i) streams_[i].items.reserve(shape.on_stream[i]);
  for (std::size_t i = 0; i < groups_.size(); ++i) groups_[i].items.reserve(shape.in_group[i]);
  running_.reserve(options.streams);
}

InstructionTimes RankTimeline::times_of(std::uint32_t item) const {
  if (!times_.empty()) return times_[item];
  const TimedInstruction& instruction = instructions_[item];
  return {instruction.duration, instruction.launch, instruction.issue};
}

bool RankTimeline::meets_others(std::uint32_t item) const {
  const TimedInstruction& instruction = instructions_[item];
  return !met_.empty() && instruction.occupation == Occupation::collective && met_[instruction.group] != 0;
}

void RankTimeline::settle() {
  while (issue_next() || start_ready()) {
  }
}

bool RankTimeline::waits_ended(std::uint32_t item) const {
  const auto waits = instructions_[item].waits;
  return std::all_of(waits.begin(), waits.end(),
                     [&](InstructionId id) { return states_[id.index()] == State::ended; });
}

// The host takes the next instruction when it is free; says whether anything happened.
bool RankTimeline::issue_next() {
  if (next_ == instructions_.size() || now_ < host_free_ || host_computes_ > 0) return false;
  const auto item = static_cast<std::uint32_t>(next_);
  if (!reached_) {
    reached_ = true;
    spans_[item].instruction = InstructionId{item};
    spans_[item].issue = {now_};
  }
  if (blocks_host(item)) return false;
  reached_ = false;
  ++next_;
  host_free_ = now_ + times_of(item).issue.value;
  place(item);
  return true;
}

// The host waits before it can issue the instruction at all. A synchronous host does what it issues itself,
// so it waits for all that goes before; only collectives of one group follow each other in the background.
bool RankTimeline::blocks_host(std::uint32_t item) const {
  const TimedInstruction& instruction = instructions_[item];
  if (!synchronous()) return instruction.occupation == Occupation::host_wait && !waits_ended(item);
  if (instruction.occupation == Occupation::collective) return waits_on_other_group(item);
  if (instruction.occupation == Occupation::drive) return waits_on_other_stream(item);
  const Queue& stream = streams_[instruction.stream];
  return !waits_ended(item) || stream.head < stream.items.size();
}

bool RankTimeline::waits_on_other_group(std::uint32_t item) const {
  const TimedInstruction& instruction = instructions_[item];
  return std::any_of(instruction.waits.begin(), instruction.waits.end(), [&](InstructionId id) {
    const TimedInstruction& wait = instructions_[id.index()];
    const bool same_queue = wait.occupation == Occupation::collective && wait.group == instruction.group;
    return !same_queue && states_[id.index()] != State::ended;
  });
}

bool RankTimeline::waits_on_other_stream(std::uint32_t item) const {
  const TimedInstruction& instruction = instructions_[item];
  return std::any_of(instruction.waits.begin(), instruction.waits.end(), [&](InstructionId id) {
    return instructions_[id.index()].stream != instruction.stream && states_[id.index()] != State::ended;
  });
}

void RankTimeline::place(std::uint32_t item) {
  const TimedInstruction& instruction = instructions_[item];
  const bool immediate = instruction.occupation == Occupation::host_wait ||
                         (instruction.occupation == Occupation::nothing &&
                          (synchronous() || (instruction.waits.empty() &&
                                             shape_.awaited[item] == 0)));  // else a point on its stream
  if (immediate) {
    end_at_once(item);
    return;
  }
  states_[item] = State::queued;
  spans_[item].start = {now_ + times_of(item).launch.value};  // not before
  streams_[instruction.stream].items.push_back(item);
  if (instruction.occupation == Occupation::collective) groups_[instruction.group].items.push_back(item);
  if (synchronous() && instruction.occupation == Occupation::compute) ++host_computes_;
  dirty_ = true;
}

void RankTimeline::end_at_once(std::uint32_t item) {
  Span& span = spans_[item];
  span.ready = span.start = span.end = {now_};
  states_[item] = State::ended;
  ++ended_;
  dirty_ = true;
}

// Starts the heads of queues that may start now; says whether one also ended at once.
bool RankTimeline::start_ready() {
  if (!dirty_) return false;
  dirty_ = false;
  for (Queue& stream : streams_) {
    if (stream.head < stream.items.size()) start_if_ready(stream.items[stream.head]);
  }
  return dirty_;
}

void RankTimeline::start_if_ready(std::uint32_t item) {
  const TimedInstruction& instruction = instructions_[item];
  if (states_[item] != State::queued || !waits_ended(item)) return;
  if (instruction.occupation == Occupation::collective && !groups_[instruction.group].is_head(item)) return;
  if (spans_[item].start.value > now_) {
    launching_ = std::min(launching_, spans_[item].start.value);
    return;
  }
  start(item);
}

void RankTimeline::start(std::uint32_t item) {
  Span& span = spans_[item];
  span.start = {now_};
  span.ready = ready_time(item);
  states_[item] = State::running;
  const InstructionTimes times = times_of(item);
  const std::int64_t issued = span.issue.value + times.issue.value;
  const bool meets = meets_others(item);
  if (!meets && times.duration.value == 0 && issued <= now_) {
    end(item);
    return;
  }
  running_.push_back({item, Work{times.duration.value} * Contention::full, issued,
                      instructions_[item].occupation, meets ? Phase::before : Phase::working});
  count_running(running_.back(), 1);
  rates_known_ = false;
  if (meets) arrived_.push_back(item);
}

Nanoseconds RankTimeline::ready_time(std::uint32_t item) const {
  Nanoseconds ready = spans_[item].issue;
  for (const InstructionId wait : instructions_[item].waits)
    ready = std::max(ready, spans_[wait.index()].end);
  return ready;
}

RankTimeline::Running& RankTimeline::running_of(std::uint32_t item) {
  return *std::find_if(running_.begin(), running_.end(),
                       [&](const Running& running) { return running.item == item; });
}

void RankTimeline::begin(std::uint32_t item) {
  Running& running = running_of(item);
  enter(running, Phase::working);
  if (running.remaining > 0 || running.earliest > now_) return;
  enter(running, Phase::after);
  worked_.push_back(item);
}

void RankTimeline::end_together(std::uint32_t item) {
  const Running finished = running_of(item);
  running_.erase(running_.begin() + (&running_of(item) - running_.data()));
  count_running(finished, -1);
  rates_known_ = false;
  end(item);
}

// A kernel on a GPU holds its multiprocessors while it waits for other ranks; a processor sleeps meanwhile.
void RankTimeline::count_running(const Running& running, int change) {
  const bool busy = running.phase == Phase::working || !synchronous();
  if (running.occupation == Occupation::collective && busy) collectives_ += change;
  if (running.occupation == Occupation::compute) computes_ += change;
}

void RankTimeline::enter(Running& running, Phase phase) {
  count_running(running, -1);
  running.phase = phase;
  count_running(running, 1);
  rates_known_ = false;
}

// What waits moves nothing; of what it draws on it keeps only what a kernel holds.
ResourceUses RankTimeline::uses_of(const Running& running) {
  const ResourceUses uses = instructions_[running.item].uses;
  if (running.phase == Phase::working) return uses;
  const std::size_t first = held_.size();
  std::copy_if(uses.begin(), uses.end(), std::back_inserter(held_),
               [](const ResourceUse& use) { return use.held; });
  return {held_.data() + first, held_.size() - first};
}

// The speeds of all that run, which hold until one of them ends or another starts.
void RankTimeline::find_rates() {
  if (rates_known_) return;
  rates_known_ = true;
  if (running_.size() == 1) {  // it has everything for itself
    running_[0].rate = running_[0].phase == Phase::working ? Contention::full : 0;
    return;
  }
  uses_.clear();
  held_.clear();
  held_.reserve(running_.size() * options_.resources);
  for (const Running& running : running_) uses_.push_back(uses_of(running));
  fair_rates(uses_, rates_);
  for (std::size_t i = 0; i < running_.size(); ++i) {
    const std::int64_t beside = contention_of(running_[i]);
    const std::int64_t rate = std::max<std::int64_t>(rates_[i] * beside / Contention::full, 1);
    running_[i].rate = running_[i].phase == Phase::working ? rate : 0;
  }
}

std::int64_t RankTimeline::contention_of(const Running& running) const {
  if (running.occupation == Occupation::drive) return Contention::full;
  if (running.occupation == Occupation::collective)
    return computes_ > 0 ? options_.contention.collective_beside_compute : Contention::full;
  return collectives_ > 0 ? options_.contention.compute_beside_collective : Contention::full;
}

// When its work is done at this speed.
std::int64_t RankTimeline::done(const Running& running) const {
  const Work needed = (running.remaining + running.rate - 1) / running.rate;
  return now_ + static_cast<std::int64_t>(std::min<Work>(needed, k_never - now_));
}

std::int64_t RankTimeline::finish(const Running& running) const {
  if (running.phase != Phase::working) return k_never;
  return std::max(done(running), running.earliest);
}

std::int64_t RankTimeline::next_event() {
  find_rates();
  std::int64_t next = launching_;
  if (next_ < instructions_.size() && host_free_ > now_) next = std::min(next, host_free_);
  for (const Running& running : running_) next = std::min(next, finish(running));
  return next;
}

// Until its work is done: it may not end yet because the host still issues it.
void RankTimeline::note_period(const Running& running, std::int64_t time) {
  if (periods_ == nullptr || running.rate == 0 || running.remaining == 0 || time == now_) return;
  periods_->push_back({running.item, {now_}, {std::min(time, done(running))}, running.rate});
}

void RankTimeline::advance(std::int64_t time) {
  if (time == now_) return;
  find_rates();
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

void RankTimeline::end_finished() {
  for (std::size_t i = 0; i < running_.size();) {
    Running& running = running_[i];
    if (running.phase != Phase::working || running.remaining > 0 || running.earliest > now_) {
      ++i;
      continue;
    }
    if (meets_others(running.item)) {
      enter(running, Phase::after);
      worked_.push_back(running.item);
      continue;
    }
    const Running finished = running;
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    count_running(finished, -1);
    rates_known_ = false;
    end(finished.item);
  }
}

void RankTimeline::end(std::uint32_t item) {
  const TimedInstruction& instruction = instructions_[item];
  spans_[item].end = {now_};
  states_[item] = State::ended;
  ++ended_;
  ++streams_[instruction.stream].head;
  if (instruction.occupation == Occupation::collective) ++groups_[instruction.group].head;
  if (synchronous() && instruction.occupation == Occupation::compute) --host_computes_;
  dirty_ = true;
}

}  // namespace shardlab

#include "engine/formats/profiler/profiled_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "engine/formats/profiler/host_events.h"
#include "engine/formats/profiler/step_windows.h"
#include "engine/formats/profiler/work_names.h"

namespace shardlab {
namespace {

constexpr Nanoseconds k_shortest_wait{1000};  // of the host for the device

class StepReader {
 public:
  explicit StepReader(const ProfilerTrace& trace)
      : trace_(trace), phases_(trace), windows_(step_windows(trace)) {}

  ProfiledRank read() {
    rank_.names.push_back("");
    for (const StepWindow& window : windows_) rank_.steps.push_back({window.number, window.begin, {}, {}});
    rank_.on_device = std::any_of(trace_.events.begin(), trace_.events.end(),
                                  [](const ProfilerEvent& event) { return is_on_device(event.category); });
    name_lanes();
    if (rank_.on_device) {
      add_device_work();
    } else {
      add_host_work();
    }
    compute_lane_first();
    add_memory();
    std::erase_if(rank_.steps, [](const ProfiledStep& step) { return step.work.empty(); });
    for (ProfiledStep& step : rank_.steps)
      std::stable_sort(step.work.begin(), step.work.end(), [](const ProfiledWork& a, const ProfiledWork& b) {
        return a.issue != b.issue ? a.issue < b.issue : a.start < b.start;
      });
    return std::move(rank_);
  }

 private:
  bool is_work(const ProfilerEvent& event) const {
    return rank_.on_device ? is_on_device(event.category) : event.category == ProfilerCategory::operation;
  }

  // Streams by their number, with that of the device where there are several; threads of the host by turn.
  void name_lanes() {
    std::set<std::string> devices;
    for (const ProfilerEvent& event : trace_.events)
      if (is_work(event)) devices.insert(trace_.threads[event.thread].process);
    for (const ProfilerEvent& event : trace_.events) {
      if (!is_work(event) || lanes_.contains(event.thread)) continue;
      const ProfilerThread& thread = trace_.threads[event.thread];
      std::string name = rank_.on_device ? "stream_" + short_name(thread.thread)
                                         : fmt::format("thread_{}", rank_.lanes.size());
      if (rank_.on_device && devices.size() > 1)
        name = fmt::format("gpu{}_{}", short_name(thread.process), name);
      lanes_[event.thread] = static_cast<std::uint32_t>(rank_.lanes.size());
      rank_.lanes.push_back(std::move(name));
    }
  }

  std::uint32_t word(std::uint32_t name) {
    const auto [found, added] = words_.try_emplace(name, static_cast<std::uint32_t>(rank_.names.size()));
    if (added) rank_.names.push_back(short_name(trace_.names[name]));
    return found->second;
  }

  // The step in which the host was at that time.
  ProfiledStep* step_at(Nanoseconds time) {
    const auto after = std::partition_point(
        windows_.begin(), windows_.end(), [time](const StepWindow& window) { return window.begin <= time; });
    if (after == windows_.begin() || (after - 1)->end <= time) return nullptr;
    return &rank_.steps[static_cast<std::size_t>(after - windows_.begin()) - 1];
  }

  void add(const ProfilerEvent& event, InstructionKind kind, Nanoseconds launched, std::uint32_t place) {
    ProfiledStep* const step = step_at(launched);
    if (step == nullptr) return;
    ProfiledWork work;
    work.lane = lanes_.at(event.thread);
    work.name = word(event.name);
    work.place = place;
    work.kind = kind;
    work.issue = launched - step->begin;
    work.start = std::max(event.start, launched) - step->begin;
    work.end = std::max(work.start, event.end - step->begin);
    if (event.collective) {
      const ProfilerCollective& collective = trace_.collectives[*event.collective];
      work.bytes = full_side(collective);
      work.group_size = static_cast<int>(std::clamp<std::int64_t>(collective.group_size, 0, 1 << 20));
    }
    step->work.push_back(work);
  }

  void add_device_work() {
    std::unordered_map<std::int64_t, const ProfilerEvent*> launches;
    for (const ProfilerEvent& event : trace_.events)
      if (event.category == ProfilerCategory::launch && event.correlation)
        launches[*event.correlation] = &event;
    const HostOperators operators(trace_);
    for (const ProfilerEvent& event : trace_.events) {
      if (event.category == ProfilerCategory::launch) add_host_wait(event);
      if (!is_on_device(event.category)) continue;
      const auto launch = event.correlation ? launches.find(*event.correlation) : launches.end();
      if (launch == launches.end()) {
        add(event, kind_of(event, std::nullopt), event.start, 0);
        continue;
      }
      const ProfilerEvent& its = *launch->second;
      const ProfilerEvent* const around = operators.innermost_at(its.thread, its.start);
      add(event, kind_of(event, phases_.at(its.thread, its.start)), std::min(its.start, event.start),
          around == nullptr ? 0 : word(around->name));
    }
  }

  InstructionKind kind_of(const ProfilerEvent& event, std::optional<InstructionKind> phase) const {
    if (const auto collective = collective_kind(trace_.names[event.name])) return *collective;
    if (event.category == ProfilerCategory::copy) return InstructionKind::Copy;
    return phase.value_or(InstructionKind::Forward);
  }

  // cudaStreamSynchronize and its kin: the host stands still. It is drawn from its issue to its end.
  void add_host_wait(const ProfilerEvent& event) {
    const std::string& name = trace_.names[event.name];
    if (name.find("Synchronize") == std::string::npos || event.end - event.start < k_shortest_wait) return;
    ProfiledStep* const step = step_at(event.start);
    if (step == nullptr) return;
    ProfiledWork work;
    work.name = word(event.name);
    work.kind = InstructionKind::HostWait;
    work.issue = event.start - step->begin;
    work.start = work.end = event.end - step->begin;
    step->work.push_back(work);
  }

  void add_host_work() {
    for (const ProfilerEvent* const event : HostOperators(trace_).outermost()) {
      const auto collective = collective_kind(trace_.names[event->name]);
      add(*event, collective.value_or(phases_.at(event->thread, event->start)), event->start, 0);
    }
  }

  // Stream 0 of a plan computes.
  void compute_lane_first() {
    std::vector<Nanoseconds> busy(rank_.lanes.size());
    for (const ProfiledStep& step : rank_.steps)
      for (const ProfiledWork& work : step.work)
        if (!is_collective(work.kind) && work.kind != InstructionKind::Copy)
          busy[work.lane] += work.end - work.start;
    if (busy.empty()) return;
    const auto most = static_cast<std::uint32_t>(std::max_element(busy.begin(), busy.end()) - busy.begin());
    std::rotate(rank_.lanes.begin(), rank_.lanes.begin() + most, rank_.lanes.begin() + most + 1);
    for (ProfiledStep& step : rank_.steps)
      for (ProfiledWork& work : step.work)
        work.lane = work.kind == InstructionKind::HostWait || work.lane == most ? 0
                    : work.lane < most                                          ? work.lane + 1
                                                                                : work.lane;
  }

  void add_memory() {
    for (const ProfilerMemory& each : trace_.memory) {
      if (each.on_device != rank_.on_device) continue;
      if (ProfiledStep* const step = step_at(each.at))
        step->memory.push_back({each.at - step->begin, each.allocated, each.on_device});
    }
    for (ProfiledStep& step : rank_.steps)
      std::stable_sort(step.memory.begin(), step.memory.end(),
                       [](const ProfilerMemory& a, const ProfilerMemory& b) { return a.at < b.at; });
  }

  const ProfilerTrace& trace_;
  HostPhases phases_;
  std::vector<StepWindow> windows_;  // by begin
  ProfiledRank rank_;
  std::map<std::uint32_t, std::uint32_t> lanes_;            // by thread
  std::unordered_map<std::uint32_t, std::uint32_t> words_;  // by name
};

}  // namespace

ProfiledRank profiled_steps(const ProfilerTrace& trace) {
  return StepReader(trace).read();
}

}  // namespace shardlab

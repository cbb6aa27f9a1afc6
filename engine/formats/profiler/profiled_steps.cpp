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
      : trace_(trace), phases_(trace), modules_(trace), windows_(step_windows(trace)) {}

  ProfiledRank read() {
    own_word("");
    for (const StepWindow& window : windows_) rank_.steps.push_back({window.number, window.begin, {}, {}});
    rank_.on_device = std::any_of(trace_.events.begin(), trace_.events.end(),
                                  [](const ProfilerEvent& event) { return is_on_device(event.category); });
    if (rank_.on_device) {
      name_streams();
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
  // By their number, with that of the device where there are several.
  void name_streams() {
    std::set<std::string> devices;
    for (const ProfilerEvent& event : trace_.events)
      if (is_on_device(event.category)) devices.insert(trace_.threads[event.thread].process);
    for (const ProfilerEvent& event : trace_.events) {
      if (!is_on_device(event.category) || lanes_.contains(event.thread)) continue;
      const ProfilerThread& thread = trace_.threads[event.thread];
      std::string name = "stream_" + short_name(thread.thread);
      if (devices.size() > 1) name = fmt::format("gpu{}_{}", short_name(thread.process), name);
      lanes_[event.thread] = new_lane(std::move(name));
    }
  }

  std::uint32_t new_lane(std::string name) {
    rank_.lanes.push_back(std::move(name));
    return static_cast<std::uint32_t>(rank_.lanes.size()) - 1;
  }

  // Threads of the host by turn.
  std::uint32_t host_lane(std::uint32_t thread) {
    if (!lanes_.contains(thread)) lanes_[thread] = new_lane(fmt::format("thread_{}", lanes_.size()));
    return lanes_.at(thread);
  }

  // Gloo's threads take its collectives by turns: which of them did one is chance. They are apart where they
  // ran at the same time.
  std::uint32_t gloo_lane(const ProfilerEvent& event) {
    auto free = std::find_if(gloo_.begin(), gloo_.end(),
                             [&](const GlooLane& lane) { return lane.busy_until <= event.start; });
    if (free == gloo_.end()) {
      const std::string name = gloo_.empty() ? "gloo" : fmt::format("gloo_{}", gloo_.size());
      free = gloo_.insert(gloo_.end(), {new_lane(name), {}});
    }
    free->busy_until = event.end;
    return free->lane;
  }

  std::uint32_t word(std::uint32_t name) {
    const auto found = words_.find(name);
    if (found != words_.end()) return found->second;
    return words_[name] = own_word(short_name(trace_.names[name]));
  }
  std::uint32_t own_word(const std::string& text) {
    const auto [found, added] = texts_.try_emplace(text, static_cast<std::uint32_t>(rank_.names.size()));
    if (added) rank_.names.push_back(text);
    return found->second;
  }

  // A collective is called by the module that it is for, where that is known.
  std::uint32_t name_of(const ProfilerEvent& event, InstructionKind kind, std::optional<std::uint32_t> thread,
                        Nanoseconds issued) {
    const std::string module = is_collective(kind) ? modules_.at(thread, issued) : "";
    return module.empty() ? word(event.name) : own_word(module);
  }

  // The step in which the host was at that time.
  ProfiledStep* step_at(Nanoseconds time) {
    const auto after = std::partition_point(
        windows_.begin(), windows_.end(), [time](const StepWindow& window) { return window.begin <= time; });
    if (after == windows_.begin() || (after - 1)->end <= time) return nullptr;
    return &rank_.steps[static_cast<std::size_t>(after - windows_.begin()) - 1];
  }

  // `work` has its lane, names and kind.
  void add(ProfiledWork work, const ProfilerEvent& event, Nanoseconds launched) {
    ProfiledStep* const step = step_at(launched);
    if (step == nullptr) return;
    work.issue = launched - step->begin;
    work.start = std::max(event.start, launched) - step->begin;
    work.end = std::max(work.start, event.end - step->begin);
    if (event.collective) {
      const bool one_group = trace_.process_groups == 1;
      const ProfilerCollective collective =
          completed(trace_.collectives[*event.collective], one_group ? trace_.world_size : std::nullopt);
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
      const std::uint32_t lane = lanes_.at(event.thread);
      if (launch == launches.end()) {
        add({.lane = lane, .name = word(event.name), .kind = kind_of(event, std::nullopt)}, event,
            event.start);
        continue;
      }
      const ProfilerEvent& its = *launch->second;
      const ProfilerEvent* const around = operators.innermost_at(its.thread, its.start);
      const InstructionKind kind = kind_of(event, phases_.at(its.thread, its.start));
      add({.lane = lane,
           .name = name_of(event, kind, its.thread, its.start),
           .place = around == nullptr ? 0 : word(around->name),
           .kind = kind},
          event, std::min(its.start, event.start));
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
    std::vector<const ProfilerEvent*> of_gloo;
    for (const ProfilerEvent* const event : HostOperators(trace_).outermost()) {
      if (is_gloo(trace_.names[event->name])) {
        of_gloo.push_back(event);
        continue;
      }
      const auto collective = collective_kind(trace_.names[event->name]);
      add({.lane = host_lane(event->thread),
           .name = word(event->name),
           .kind = collective.value_or(phases_.at(event->thread, event->start))},
          *event, event->start);
    }
    std::stable_sort(of_gloo.begin(), of_gloo.end(),
                     [](const ProfilerEvent* a, const ProfilerEvent* b) { return a->start < b->start; });
    for (const ProfilerEvent* const event : of_gloo) add_gloo(*event);
    for (ProfiledStep& step : rank_.steps) add_waits_for_gloo(step);
  }

  // The host has no operator for its wait: it stands still from the end of what it did before, or from when
  // the collective began, to the collective's end.
  void add_waits_for_gloo(ProfiledStep& step) {
    std::vector<ProfiledWork> operators, waits;
    for (const ProfiledWork& work : step.work)
      if (!is_collective(work.kind)) operators.push_back(work);
    std::stable_sort(operators.begin(), operators.end(),
                     [](const ProfiledWork& a, const ProfiledWork& b) { return a.start < b.start; });
    for (const ProfiledWork& work : step.work) {
      if (!is_collective(work.kind)) continue;
      Nanoseconds busy_until;
      for (const ProfiledWork& each : operators) {
        if (each.start >= work.end) break;
        busy_until = std::max(busy_until, each.end);
      }
      const Nanoseconds begin = std::max(busy_until, work.start);
      if (work.end - begin < k_shortest_wait) continue;
      ProfiledWork wait{.name = own_word("wait_for_gloo"), .kind = InstructionKind::HostWait, .issue = begin};
      wait.start = wait.end = work.end;
      waits.push_back(wait);
    }
    step.work.insert(step.work.end(), waits.begin(), waits.end());
  }

  void add_gloo(const ProfilerEvent& event) {
    const InstructionKind kind =
        collective_kind(trace_.names[event.name]).value_or(InstructionKind::HostWait);
    if (kind == InstructionKind::HostWait) return;  // a barrier moves nothing
    add({.lane = gloo_lane(event), .name = name_of(event, kind, std::nullopt, event.start), .kind = kind},
        event, event.start);
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
  ModuleMarks modules_;
  std::vector<StepWindow> windows_;  // by begin
  ProfiledRank rank_;
  std::map<std::uint32_t, std::uint32_t> lanes_;            // by thread
  std::unordered_map<std::uint32_t, std::uint32_t> words_;  // by name
  std::map<std::string, std::uint32_t> texts_;              // the same by what stands in ProfiledRank::names
  struct GlooLane {
    std::uint32_t lane;
    Nanoseconds busy_until;
  };
  std::vector<GlooLane> gloo_;
};

}  // namespace

ProfiledRank profiled_steps(const ProfilerTrace& trace) {
  return StepReader(trace).read();
}

}  // namespace shardlab

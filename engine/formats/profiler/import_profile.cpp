#include "engine/formats/profiler/import_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "engine/formats/profiler/merged_plan.h"
#include "engine/formats/profiler/profiled_steps.h"

namespace shardlab {
namespace {

// A span covers everything that the profiler saw of an instruction. When its waits were done is not
// known: it is taken to be ready when its lane was free for it.
std::vector<Span> spans_of(const ProfiledStep& step, const std::vector<InstructionId>& ids) {
  std::vector<Span> spans;
  std::map<std::uint32_t, Nanoseconds> free_at;  // by lane
  for (std::size_t i = 0; i < step.work.size(); ++i) {
    const ProfiledWork& work = step.work[i];
    if (work.kind == InstructionKind::HostWait) {
      spans.push_back({ids[i], work.issue, work.end, work.end, work.end});
      continue;
    }
    Nanoseconds& lane = free_at[work.lane];
    const Nanoseconds ready = std::min(std::max(work.issue, lane), work.start);
    spans.push_back({ids[i], work.issue, ready, work.start, work.end});
    lane = std::max(lane, work.end);
  }
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.instruction < b.instruction; });
  return spans;
}

// Each instruction has the highest level from its issue to the next one's, and the last level. The profiler
// knows no classes: all of them stay empty.
std::vector<MemorySample> memory_of(const ProfiledStep& step, const std::vector<Span>& spans) {
  std::vector<MemorySample> samples;
  if (step.memory.empty()) return samples;
  std::size_t next = 0;
  Bytes level = step.memory.front().allocated;
  Nanoseconds reached;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    reached = std::max(reached, spans[i].issue);
    const bool last = i + 1 == spans.size();
    MemorySample sample;
    sample.instruction = spans[i].instruction;
    sample.peak = level;
    while (next < step.memory.size() &&
           (last || step.memory[next].at < std::max(reached, spans[i + 1].issue))) {
      level = step.memory[next++].allocated;
      sample.peak = std::max(sample.peak, level);
    }
    sample.live = level;
    samples.push_back(sample);
  }
  return samples;
}

RankTrace rank_trace(int rank, const ProfiledStep& step, const std::vector<InstructionId>& ids) {
  RankTrace trace;
  trace.rank = rank;
  trace.spans = spans_of(step, ids);
  trace.memory = memory_of(step, trace.spans);
  Nanoseconds first = trace.spans.front().issue, last;
  for (const Span& span : trace.spans) {
    first = std::min(first, span.issue);
    last = std::max(last, span.end);
  }
  trace.duration = last - first;
  return trace;
}

bool has_collectives_of_unknown_size(const StepPlan& plan) {
  return std::any_of(plan.instructions.begin(), plan.instructions.end(), [](const Instruction& each) {
    return is_collective(each.kind) && each.bytes.value == 0;
  });
}

Provenance provenance_of(const std::vector<ProfilerTrace>& traces, bool has_memory, const StepPlan& plan) {
  const ProfilerTrace& first = traces.front();
  Provenance from;
  from.kind = RunKind::measured;
  from.machine = first.device.empty() ? "the machine that was profiled"
                                      : fmt::format("{} x {}", traces.size(), first.device);
  from.versions["recorded by"] = "torch.profiler";
  from.leaves_out = {"tokens and the device's peak rate, so no rates",
                     "the time that profiling itself takes"};
  if (has_memory)
    from.leaves_out.push_back("classes of memory: a profiler sees bytes, and not what they are of");
  // A device's allocator knows all that it gave out; of the host the profiler counts from its own start.
  if (has_memory && first.device.empty()) from.leaves_out.emplace_back(k_memory_before);
  if (has_collectives_of_unknown_size(plan))
    from.leaves_out.push_back(
        "bytes of collectives of which the trace does not say them (record_shapes=True)");
  if (!plan.groups.empty())
    from.leaves_out.push_back("what waits for what: inferred from where compute stands still");
  if (traces.size() > 1) from.leaves_out.push_back("how far apart the ranks began a step");
  return from;
}

// Steps of one number on all ranks, in order.
std::vector<StepTrace> steps_of(const std::vector<ProfiledRank>& ranks, const std::vector<int>& numbers,
                                const MergedPlan& merged, const std::string& hash) {
  std::map<std::int64_t, StepTrace> steps;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (std::size_t s = 0; s < ranks[r].steps.size(); ++s) {
      const ProfiledStep& step = ranks[r].steps[s];
      StepTrace& trace = steps[step.number];
      trace.plan_hash = hash;
      trace.step = step.number;
      const bool again = !trace.ranks.empty() && trace.ranks.back().rank == numbers[r];
      if (!again) trace.ranks.push_back(rank_trace(numbers[r], step, merged.instructions[r][s]));
    }
  }
  std::vector<StepTrace> list;
  for (auto& [number, step] : steps) list.push_back(std::move(step));
  return list;
}

// "rank0.pt.trace.json.gz" is "rank0".
std::string stem_of(std::filesystem::path file) {
  const std::set<std::string> endings = {".gz", ".json", ".trace", ".pt"};
  file = file.filename();
  while (endings.contains(file.extension().string())) file = file.stem();
  return file.string();
}

Status check_content(const ProfilerTrace& trace, const ProfiledRank& rank, const std::string& name) {
  if (!rank.steps.empty()) return {};
  if (trace.written_by_shardlab)
    return bad_input(in_file(name), "is a trace that shardlab wrote",
                     "its run is in the database: see `shardlab history`");
  if (trace.events.empty())
    return bad_input(in_file(name), "holds no kernels and no operators",
                     "record with torch.profiler.profile() and save with export_chrome_trace()");
  return bad_input(in_file(name), "has steps, but nothing ran in them",
                   "record the steps whole: call the profiler's step() after each of them");
}

// What the file says, else the position among the files.
Result<std::vector<int>> rank_numbers(const std::vector<ProfilerTrace>& traces,
                                      const std::vector<std::string>& names) {
  std::vector<int> numbers;
  std::map<int, std::string> seen;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const int rank = traces[i].rank.value_or(static_cast<int>(i));
    const auto [other, added] = seen.try_emplace(rank, names[i]);
    if (!added)
      return bad_input(in_file(names[i]), fmt::format("is of rank {}, as {} is", rank, other->second),
                       "give one file of each rank");
    numbers.push_back(rank);
  }
  return numbers;
}

}  // namespace

Result<ImportedProfile> import_profiles(const std::vector<ProfilerTrace>& traces,
                                        const std::vector<std::string>& names) {
  if (traces.empty()) return bad_input("import", "no file is given");
  SHARDLAB_TRY(const std::vector<int> numbers, rank_numbers(traces, names));
  std::vector<ProfiledRank> ranks;
  int world = static_cast<int>(traces.size());
  for (std::size_t i = 0; i < traces.size(); ++i) {
    ranks.push_back(profiled_steps(traces[i]));
    SHARDLAB_CHECK_OK(check_content(traces[i], ranks.back(), names[i]));
    world = std::max({world, traces[i].world_size.value_or(1), numbers[i] + 1});
  }
  MergedPlan merged = merge_plans(ranks, world);
  ImportedProfile imported;
  imported.name = stem_of(names.front());
  imported.trace.steps = steps_of(ranks, numbers, merged, plan_hash(merged.plan));
  const auto has = [&](auto in_rank) {
    return std::any_of(imported.trace.steps.begin(), imported.trace.steps.end(),
                       [&](const StepTrace& step) { return in_rank(step.ranks.front()); });
  };
  imported.trace.provenance =
      provenance_of(traces, has([](const RankTrace& rank) { return !rank.memory.empty(); }), merged.plan);
  StepPlan nothing = merged.plan;
  nothing.instructions.clear();
  imported.plan = {nothing, nothing, std::nullopt, std::move(merged.plan)};
  imported.plan.setup.phase = PlanPhase::setup;
  imported.plan.first.phase = PlanPhase::first;
  imported.memory_limit = traces.front().device_memory;
  return imported;
}

Result<ImportedProfile> import_profiles(const std::vector<std::filesystem::path>& files) {
  std::vector<ProfilerTrace> traces;
  std::vector<std::string> names;
  for (const std::filesystem::path& file : files) {
    SHARDLAB_TRY(ProfilerTrace trace, read_profiler_trace(file));
    traces.push_back(std::move(trace));
    names.push_back(file.string());
  }
  return import_profiles(traces, names);
}

}  // namespace shardlab

#include "engine/formats/logs/measured_log.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/formats/logs/steady_times.h"

namespace shardlab {
namespace {

std::vector<double> values_of(const LoggedValues& by_step) {
  std::vector<double> values;
  for (const auto& [step, value] : by_step) values.push_back(value);
  return values;
}

// The most frequent distance of two steps; 0 where steps are not known.
std::int64_t usual_distance(const TrainingLog& log) {
  if (!log.knows_steps) return 0;
  std::map<std::int64_t, int> counts;
  for (auto next = log.losses.begin(); next != log.losses.end();) {
    const std::int64_t step = next->first;
    if (++next != log.losses.end()) ++counts[next->first - step];
  }
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? 1 : most->first;
}

int ranks_of(const TrainingLog& log) {
  const int signed_by = log.ranks.size() > 1 ? *log.ranks.rbegin() + 1 : 0;
  return std::max(log.world_size.value_or(0), signed_by);
}

void add_memory(const TrainingLog& log, RunSummary& run) {
  if (!log.peak_allocated && !log.peak_reserved) return;
  MemorySummary& memory = run.memory.emplace();
  if (log.peak_allocated) memory.peak_allocated = log.peak_allocated->bytes;
  if (log.peak_reserved) memory.peak_reserved = log.peak_reserved->bytes;
  const LoggedPeak& peak = log.peak_allocated ? *log.peak_allocated : *log.peak_reserved;
  memory.peak_rank = peak.rank.value_or(-1);
  memory.peak_step = peak.step;
}

void add_speed(const TrainingLog& log, RunSummary& run) {
  if (log.tokens_per_second) {
    run.tokens_per_second = *log.tokens_per_second;
    if (run.ranks > 0) run.tokens_per_second_per_gpu = run.tokens_per_second / run.ranks;
  }
  if (log.tokens_per_second_of_rank) {
    run.tokens_per_second_per_gpu = *log.tokens_per_second_of_rank;
    run.tokens_per_second = *log.tokens_per_second_of_rank * run.ranks;
  }
}

std::int64_t longest_mean(const SteadyTimes& steady) {
  std::int64_t most = 0;
  for (const TimedSteps& time : steady.times) most = std::max(most, time.count());
  return most;
}

void add_about_times(const TrainingLog& log, std::vector<std::string>& lacks) {
  const SteadyTimes steady = steady_times(log.times);
  if (steady.times.empty()) lacks.push_back("times of steps: no line tells any");
  if (steady.hold_first && !steady.times.empty())
    lacks.push_back("a time without the first steps of a start, which compile and warm up");
  if (steady.left_out > 0)
    lacks.push_back(fmt::format(
        "{} of {} timed steps: times that begin within the first {} steps of a start, from its first line on",
        steady.left_out, steady.left_out + steady.steps(), k_first_steps));
  if (const std::int64_t most = longest_mean(steady); most > 1)
    lacks.push_back(fmt::format("times of single steps: each is the mean of up to {}", most));
}

void add_about_figures(const TrainingLog& log, std::vector<std::string>& lacks) {
  if (!log.tokens_per_second && !log.tokens_per_second_of_rank) lacks.emplace_back(k_lacks_tokens);
  if (ranks_of(log) == 0) lacks.emplace_back(k_lacks_ranks);
  if (!log.peak_allocated) lacks.push_back("the peak of allocated memory");
  if (!log.peak_reserved) lacks.push_back("the peak of reserved memory");
  if (log.losses.empty()) lacks.push_back("losses");
  if (!log.losses.empty() && !log.knows_steps)
    lacks.push_back("which steps the losses are of: their lines number none");
}

void add_about_starts(const TrainingLog& log, std::vector<std::string>& lacks) {
  if (log.starts > 1)
    lacks.push_back(
        fmt::format("steps that ran again: the program started {} times, and of a step that ran "
                    "twice the later loss is kept",
                    log.starts));
}

}  // namespace

RunSummary summary_of(const TrainingLog& log) {
  RunSummary run;
  run.kind = RunKind::measured;
  run.ranks = ranks_of(log);
  run.step_time = step_time_of(steady_times(log.times));
  run.exposed_communication = k_unknown_time;
  run.losses = values_of(log.losses);
  run.steps_per_loss = usual_distance(log);
  run.gradient_norms = values_of(log.gradient_norms);
  run.skipped_steps = log.skipped_steps.value_or(-1);
  run.memory_limit = log.device_memory;
  add_memory(log, run);
  add_speed(log, run);
  const Provenance from = provenance_of(log);
  run.assumes = from.assumes;
  run.leaves_out = from.leaves_out;
  return run;
}

Provenance provenance_of(const TrainingLog& log) {
  Provenance from;
  from.kind = RunKind::measured;
  if (!log.device.empty())
    from.machine = ranks_of(log) > 0 ? fmt::format("{} x {}", ranks_of(log), log.device) : log.device;
  from.versions["recorded by"] = fmt::format("{}", fmt::join(log.programs, ", "));
  if (!log.times_from.empty())
    from.assumes.push_back(fmt::format("step times are those of {}", log.times_from));
  if (!log.read_as.empty()) from.assumes.push_back(log.read_as);
  if (log.is_reserved_rounded)
    from.assumes.push_back("the peak of reserved memory is rounded to whole GiB, as DeepSpeed prints it");
  std::vector<std::string>& lacks = from.leaves_out;
  lacks.push_back("what ran when: neither exposed communication nor collectives are known");
  lacks.push_back("classes of memory");
  add_about_times(log, lacks);
  add_about_figures(log, lacks);
  add_about_starts(log, lacks);
  return from;
}

std::string remarks_of(const TrainingLog& log) {
  std::vector<std::string> remarks;
  if (log.utilization) remarks.push_back(fmt::format("its own MFU is {:.1f} %", *log.utilization * 100));
  if (log.host_memory)
    remarks.push_back(
        fmt::format("up to {} of the node's memory in use, whoever used it", to_string(*log.host_memory)));
  if (log.samples_per_step) remarks.push_back(fmt::format("{} samples a step", *log.samples_per_step));
  return fmt::format("{}", fmt::join(remarks, "; "));
}

}  // namespace shardlab

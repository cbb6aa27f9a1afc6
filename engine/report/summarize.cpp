#include "engine/report/summarize.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "engine/plan/unit_sizes.h"
#include "engine/report/communication_volume.h"
#include "engine/report/judge_prediction.h"
#include "engine/report/model_flops.h"
#include "engine/report/teacher_memory.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/model_spec.h"
#include "engine/trace/check_trace.h"
#include "engine/trace/exposed_communication.h"
#include "engine/trace/memory_timeline.h"
#include "engine/trace/step_time.h"

namespace shardlab {
namespace {

// Ranks of a tensor-parallel group work on the same tokens.
std::int64_t data_ranks(const PlannedScenario& planned) {
  return planned.plan.steady.world_size / std::max(1, resolve_mesh(planned.scenario).tensor);
}

Status check_steps(const StepPlan& steady, std::string_view hash, const RunTrace& trace) {
  if (trace.steps.empty())
    return bad_input("run", "it has no measured step", "measure.steps must be at least 1");
  for (const StepTrace& step : trace.steps) SHARDLAB_CHECK_OK(check_trace(steady, hash, step));
  return {};
}

StepTimeSummary summarize_step_times(const std::vector<StepTrace>& steps) {
  std::vector<Nanoseconds> times;
  for (const StepTrace& step : steps) times.push_back(step_time(step));
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  return {median(times), *least, *most, static_cast<int>(times.size())};
}

Nanoseconds summarize_exposed(const StepPlan& plan, const std::vector<StepTrace>& steps) {
  std::vector<Nanoseconds> of_steps;
  for (const StepTrace& step : steps) {
    Nanoseconds sum;
    for (const RankTrace& rank : step.ranks) sum += exposed_communication(plan, rank);
    of_steps.push_back(sum / static_cast<std::int64_t>(step.ranks.size()));
  }
  return median(std::move(of_steps));
}

// What the first rank of the first step ran, by kind and size of group; what all ranks sent.
std::vector<CommunicationTotal> summarize_communication(const StepPlan& plan, const StepTrace& step) {
  std::map<std::pair<InstructionKind, int>, CommunicationTotal> totals;
  std::set<std::pair<InstructionKind, int>> unknown;  // an imported trace may not tell how much one moved
  for (const Span& span : step.ranks.front().spans) {
    const Instruction& instruction = plan.instruction(span.instruction);
    if (span.skipped || !is_collective(instruction.kind)) continue;
    const int size = instruction.group ? plan.groups[instruction.group->index()].size : plan.world_size;
    CommunicationTotal& total = totals[{instruction.kind, size}];
    total.kind = instruction.kind;
    total.group_size = size;
    ++total.count;
    if (instruction.bytes.value == 0) unknown.insert({instruction.kind, size});
    total.bytes += instruction.bytes;
    total.sent += sent_bytes(plan, instruction);
  }
  for (const RankTrace& rank : step.ranks) {
    for (const SentInStep& sent : rank.sent) {
      const auto total = totals.find({sent.kind, sent.group_size});
      if (total != totals.end()) total->second.counted = total->second.counted.value_or(Bytes{}) + sent.bytes;
    }
  }
  std::vector<CommunicationTotal> result;
  for (auto& [key, total] : totals) {
    if (unknown.contains(key)) total.bytes = total.sent = {};
    result.push_back(total);
  }
  return result;
}

// The optimizer's step is what an overflow skips; all ranks skip together.
std::int64_t count_skipped(const PlannedScenario& planned, const RunTrace& trace) {
  std::int64_t skipped = 0;
  for (const auto* steps : {&trace.warmup, &trace.steps}) {
    for (const StepTrace& step : *steps) {
      const StepPlan& plan = planned.plan.step(step.step);
      const auto& spans = step.ranks.front().spans;
      skipped += std::any_of(spans.begin(), spans.end(), [&](const Span& span) {
        return span.skipped && plan.instruction(span.instruction).kind == InstructionKind::OptimizerStep;
      });
    }
  }
  return skipped;
}

// The highest peak of all steps: the first one, which makes the optimizer's states, must fit as well.
Bytes highest_peak(const RunTrace& trace) {
  Bytes peak;
  for (const auto* steps : {&trace.warmup, &trace.steps}) {
    for (const StepTrace& step : *steps) {
      for (const RankTrace& rank : step.ranks) {
        for (const MemorySample& sample : rank.memory) peak = std::max(peak, sample.peak);
      }
    }
  }
  return peak;
}

double per_second(double amount, Nanoseconds time) {
  return time.value > 0 ? amount * 1e9 / static_cast<double>(time.value) : 0;
}

std::optional<double> utilization(std::optional<Flops> flops, Nanoseconds step,
                                  std::optional<FlopsPerSecond> peak) {
  if (!flops || !peak || peak->value <= 0 || step.value <= 0) return std::nullopt;
  return per_second(static_cast<double>(flops->value), step) / peak->value;
}

void add_allocator(const DeviceMemory& device, MemorySummary& memory) {
  memory.peak_active = device.active;
  memory.peak_reserved = device.reserved;
  memory.peak_device = device.device_peak;
  memory.allocator_retries = device.retries;
}

std::optional<Bytes> memory_limit(const PlannedScenario& planned, const DeviceLimits& device) {
  const std::optional<Bytes>& given = planned.scenario.cluster->memory_limit;
  return given ? given : device.memory;
}

Result<RunSummary> summary_of(const StepPlan& steady, const RunTrace& trace,
                              std::optional<Bytes> memory_limit, HashedPlans hashes) {
  RunSummary run;
  if (hashes == HashedPlans::given) run.plan_hash = plan_hash(steady);
  SHARDLAB_CHECK_OK(check_steps(steady, run.plan_hash, trace));
  run.kind = trace.provenance.kind;
  run.ranks = steady.world_size;
  run.step_time = summarize_step_times(trace.steps);
  run.exposed_communication = summarize_exposed(steady, trace.steps);
  run.communication = summarize_communication(steady, trace.steps.front());
  run.transfers = transfers_of(steady);
  run.memory = summarize_memory(steady, trace.steps);
  if (run.memory && trace.device_memory) add_allocator(*trace.device_memory, *run.memory);
  if (run.memory) run.memory->overheads = trace.overheads;
  if (run.memory) run.memory->life = trace.life;
  if (run.memory && trace.fit) {
    run.memory->device_low = trace.fit->low;
    run.memory->device_high = trace.fit->high;
  }
  run.memory_limit = memory_limit;
  if (run.memory && run.memory_limit) run.fits = judge_fit(highest_peak(trace), {}, *run.memory_limit);
  run.operators = trace.operators;
  run.losses = trace.losses;
  run.gradient_norms = trace.gradient_norms;
  run.calibrated = trace.provenance.calibrated;
  run.assumes = trace.provenance.assumes;
  run.leaves_out = trace.provenance.leaves_out;
  return run;
}

}  // namespace

std::int64_t tokens_per_step(const PlannedScenario& planned) {
  const ModelGraph& graph = planned.graph;
  return saturated_product(graph.micro_batch, graph.sequence_length, planned.plan.steady.micro_batches,
                           data_ranks(planned));
}

Result<RunSummary> summarize_recorded(const StepPlan& steady, const RunTrace& trace,
                                      std::optional<Bytes> memory_limit) {
  return summary_of(steady, trace, memory_limit, HashedPlans::given);
}

StepWork work_of_step(const PlannedScenario& planned) {
  return {tokens_per_step(planned), model_flops_per_step(planned), palm_flops_per_step(planned)};
}

void add_operators(const PlannedScenario& planned, RunSummary& run) {
  run.implementation = planned.graph.implementation;
  const CompileScope scope = planned.scenario.model->compile;
  if (scope != CompileScope::none) run.compiled = scope;
}

void add_rates(const StepWork& work, const DeviceLimits& device, RunSummary& run) {
  run.tokens_per_second = per_second(static_cast<double>(work.tokens), run.step_time.median);
  run.tokens_per_second_per_gpu = run.tokens_per_second / run.ranks;
  run.mfu = utilization(work.flops, run.step_time.median, device.peak);
  run.mfu_palm = utilization(work.palm_flops, run.step_time.median, device.peak);
}

Result<RunSummary> summarize(const PlannedScenario& planned, const RunTrace& trace,
                             const DeviceLimits& device, HashedPlans hashes) {
  SHARDLAB_TRY(RunSummary run, summary_of(planned.plan.steady, trace, memory_limit(planned, device), hashes));
  add_rates(work_of_step(planned), device, run);
  add_operators(planned, run);
  if (run.kind == RunKind::predicted && run.memory && trace.device_memory) {
    run.fit_margin = margin_of(trace.overheads);
    if (run.memory_limit) {
      const FitVerdict verdict = judge_prediction(trace, {*run.memory_limit, device.host_memory});
      run.fits = verdict.fit;
      run.fit_reason = verdict.reason;
      run.fit_probability = verdict.probability;
    }
  }
  run.volume = communication_volume(planned);
  run.skipped_steps = count_skipped(planned, trace);
  if (run.memory && planned.graph.teacher)
    run.memory->teacher = teacher_memory(planned, run.memory->peak_instruction);
  return run;
}

RunSummary summarize_out_of_memory(const PlannedScenario& planned, const RunTrace& trace,
                                   const OutOfMemory& ended, const DeviceLimits& device) {
  RunSummary run;
  run.kind = trace.provenance.kind;
  run.plan_hash = plan_hash(planned.plan.steady);
  run.ranks = planned.plan.steady.world_size;
  MemorySummary memory;
  memory.peak_allocated = ended.live;
  memory.by_class = ended.by_class;
  memory.peak_instruction = ended.instruction;
  memory.peak_label = ended.label;
  memory.peak_rank = ended.rank;
  memory.peak_step = ended.step;
  run.memory = memory;
  run.memory_limit = ended.limit.value > 0 ? ended.limit : memory_limit(planned, device);
  run.fits = Fit::no;
  add_operators(planned, run);
  run.ended_by = fmt::format("rank {}, {}, {}: {}", ended.rank,
                             ended.step < 0 ? "setup" : fmt::format("step {}", ended.step), ended.label,
                             describe(ended));
  run.assumes = trace.provenance.assumes;
  run.leaves_out = trace.provenance.leaves_out;
  return run;
}

}  // namespace shardlab

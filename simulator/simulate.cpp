#include "simulator/simulate.h"

#include <span>

#include <fmt/format.h>

#include "engine/base/limits/no_memory.h"
#include "engine/base/version.h"
#include "engine/hardware/device.h"
#include "engine/plan/transfers.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/run_spec.h"
#include "engine/scenario/train_spec.h"
#include "simulator/assumptions.h"
#include "simulator/check_step_length.h"
#include "simulator/core/timeline.h"
#include "simulator/cost/cost_model.h"
#include "simulator/memory/life/life_phases.h"
#include "simulator/memory/overheads/memory_overheads.h"
#include "simulator/memory/predicted_device.h"
#include "simulator/memory/reserved_ratios.h"
#include "simulator/memory/step_memory.h"
#include "simulator/spread/rank_meetings.h"
#include "simulator/spread/rank_times.h"

namespace shardlab {
namespace {

Occupation occupation_of(const Instruction& instruction, const StepPlan& plan) {
  if (instruction.kind == InstructionKind::HostWait) return Occupation::host_wait;
  if (is_host_only(instruction.kind)) return Occupation::nothing;
  if (uses_drive(plan, instruction)) return Occupation::drive;
  const bool communicates = is_collective(instruction.kind) && instruction.group &&
                            plan.groups[instruction.group->index()].size > 1;
  return communicates ? Occupation::collective : Occupation::compute;
}

DeviceOverheads overheads_of(const SimulationInputs& inputs, const RunTrace& run) {
  return device_overheads(run.overheads,
                          library_allocations(inputs.planned, inputs.device, inputs.device.runtime));
}

std::vector<RunStep> steps_of(const PlannedScenario& planned, const RunTrace& run) {
  std::vector<RunStep> steps;
  for (const auto* traces : {&run.warmup, &run.steps}) {
    for (const StepTrace& step : *traces)
      steps.push_back({step.step, planned.plan.step(step.step), step.ranks.front().spans});
  }
  return steps;
}

class StepSimulation {
 public:
  StepSimulation(const SimulationInputs& inputs, HashedPlans hashes)
      : inputs_(inputs), hashes_(hashes), costs_(inputs.planned, inputs.device, inputs.calibration) {}

  Result<StepTrace> simulate_step(const StepPlan& plan, std::int64_t step) {
    StepTrace trace;
    if (hashes_ == HashedPlans::given) trace.plan_hash = plan_hash(plan);
    trace.step = step;
    RankTrace& rank = trace.ranks.emplace_back();
    const std::vector<TimedInstruction>& instructions = timed(plan);
    SHARDLAB_CHECK_OK(check_step_length(plan, instructions));
    SHARDLAB_TRY(rank.spans, run_timeline(options_of(plan), instructions));
    rank.duration = timeline_duration(rank.spans);
    SHARDLAB_TRY(rank.memory, simulate_memory(inputs_.planned, plan, workspaces()));
    return trace;
  }

  // The same with all ranks, each with times of its own.
  Result<StepTrace> simulate_all_ranks(const StepPlan& plan, std::int64_t step) {
    SHARDLAB_TRY(StepTrace trace, simulate_step(plan, step));
    const int ranks = inputs_.device.ranks;
    const std::vector<TimedInstruction>& instructions = timed(plan);
    const std::vector<GroupMeetings> meetings = meetings_of(plan, inputs_.planned.scenario, ranks);
    const auto times = rank_times(instructions, meetings, *inputs_.spread, ranks, step);
    SHARDLAB_TRY(std::vector<std::vector<Span>> spans,
                 run_rank_timelines(options_of(plan), instructions, times, meetings));
    trace.ranks.resize(spans.size());
    for (std::size_t rank = 0; rank < spans.size(); ++rank) {
      trace.ranks[rank].rank = static_cast<int>(rank);
      trace.ranks[rank].spans = std::move(spans[rank]);
      trace.ranks[rank].duration = timeline_duration(trace.ranks[rank].spans);
    }
    return trace;
  }

  // On GPUs what the allocator makes of the steps simulated so far, the setup first.
  Result<PredictedDevice> device_memory(const RunTrace& run) const {
    SHARDLAB_TRY(const std::vector<double> ratios, read_reserved_ratios());
    return simulate_device_memory(inputs_.planned, inputs_.device, overheads_of(inputs_, run),
                                  steps_of(inputs_.planned, run), ratios);
  }

  std::vector<OperatorTime> operator_times(const StepPlan& plan) const { return costs_.operator_times(plan); }

 private:
  // Operators' workspace is described for our CPU implementations, which take it once a thread.
  int workspaces() const { return inputs_.device.kind == DeviceKind::cpu ? inputs_.device.threads : 0; }

  TimelineOptions options_of(const StepPlan& plan) const {
    TimelineOptions options;
    options.host =
        inputs_.device.kind == DeviceKind::cpu ? HostBehaviour::synchronous : HostBehaviour::asynchronous;
    options.streams = static_cast<std::uint32_t>(plan.streams.size());
    options.groups = static_cast<std::uint32_t>(plan.groups.size());
    options.resources = k_shared_resources;
    options.contention = to_contention(costs_.coefficients().contention);
    return options;
  }

  std::span<const InstructionId> waits_of(const StepPlan& plan, const Instruction& instruction) {
    if (inputs_.device.kind != DeviceKind::cpu) return instruction.waits;
    return waits_.emplace_back(waits_on_cpu(plan, instruction));
  }

  // On a CPU what is freed is gone at once: its Free waits for collectives and drives that still use it.
  std::vector<InstructionId> waits_on_cpu(const StepPlan& plan, const Instruction& instruction) {
    std::vector<InstructionId> waits = instruction.waits;
    for (const BufferId freed : instruction.frees) {
      if (const auto& last = last_behind_[freed.index()]) waits.push_back(*last);
    }
    if (!is_collective(instruction.kind) && !uses_drive(plan, instruction)) return waits;
    const auto id = make_id<InstructionId>(static_cast<std::size_t>(&instruction - plan.instructions.data()));
    for (const auto* list : {&instruction.reads, &instruction.writes}) {
      for (const BufferId used : *list) last_behind_[used.index()] = id;
    }
    return waits;
  }

  const std::vector<TimedInstruction>& timed(const StepPlan& plan) {
    timed_.clear();
    timed_.reserve(plan.instructions.size());
    waits_.clear();
    if (inputs_.device.kind == DeviceKind::cpu) waits_.reserve(plan.instructions.size());
    shares_.clear();
    shares_.reserve(plan.instructions.size());
    last_behind_.assign(plan.buffers.size(), std::nullopt);
    for (const Instruction& instruction : plan.instructions) {
      const InstructionCost cost = costs_.cost(plan, instruction);
      TimedInstruction& timed = timed_.emplace_back();
      timed.occupation = occupation_of(instruction, plan);
      timed.stream = instruction.stream.value;
      timed.group = instruction.group ? instruction.group->value : 0;
      timed.duration = cost.duration;
      timed.launch = cost.launch;
      timed.issue = cost.issue;
      timed.uses = shares_.emplace_back(cost.shares).uses();
      timed.waits = waits_of(plan, instruction);
    }
    return timed_;
  }

  const SimulationInputs& inputs_;
  HashedPlans hashes_;
  CostModel costs_;
  std::vector<TimedInstruction> timed_;
  std::vector<std::vector<InstructionId>> waits_;          // by instruction, on a CPU
  std::vector<ResourceShares> shares_;                     // by instruction
  std::vector<std::optional<InstructionId>> last_behind_;  // by buffer: who used it last beside the host
};

std::vector<std::string> left_out(const SimulationInputs& inputs) {
  std::vector<std::string> left_out;
  if (inputs.spread == nullptr)
    left_out.emplace_back("differences between ranks: one representative rank is simulated");
  left_out.emplace_back("what makes a first step slower (loading of kernels, first touch of memory)");
  if (inputs.planned.scenario.parallel->sync_module_states)
    left_out.emplace_back("what rank 0 sends of the parameters when units are made");
  if (inputs.device.kind == DeviceKind::gpu) {
    left_out.emplace_back("workspace of operators other than matrix products");
    left_out.emplace_back("sequences of different lengths, which leave more gaps in the allocator's memory");
  } else {
    left_out.emplace_back("memory that libraries take for themselves");
    left_out.emplace_back("other programs on the same processors");
  }
  if (const std::string& dropout = inputs.planned.graph.published_dropout; !dropout.empty())
    left_out.push_back("dropout of the published configuration: model.overrides: " + dropout);
  if (inputs.planned.scenario.train->clip_norm)
    left_out.emplace_back("steps whose gradients need no clipping are as long as others");
  return left_out;
}

Provenance provenance_of(const SimulationInputs& inputs) {
  Provenance provenance;
  provenance.kind = RunKind::predicted;
  provenance.calibrated = inputs.calibration != nullptr;
  provenance.machine = fmt::format("{} x {}", inputs.device.ranks, inputs.device.name);
  if (inputs.calibration != nullptr) {
    provenance.calibration = inputs.calibration->id;
    const bool on_gpus = inputs.device.kind == DeviceKind::gpu;
    provenance.machine =
        on_gpus ? fmt::format("{} x {}, as measured on {}", inputs.device.ranks, inputs.device.name,
                              inputs.calibration->machine.processor)
                : fmt::format("{} ranks on {}", inputs.device.ranks, inputs.calibration->machine.processor);
  }
  provenance.versions["shardlab"] = std::string(program_version());
  provenance.assumes = assumptions_of(inputs.planned, inputs.device, inputs.calibration != nullptr);
  if (inputs.spread != nullptr)
    provenance.assumes.push_back("ranks differ, by what is mostly guesses (standard deviations): " +
                                 to_text(*inputs.spread));
  provenance.leaves_out = left_out(inputs);
  return provenance;
}

Status check_calibration(const SimulationInputs& inputs) {
  if (inputs.calibration == nullptr) return {};
  const MachineFingerprint& machine = inputs.calibration->machine;
  const std::string wanted = inputs.device.kind == DeviceKind::gpu ? inputs.device.name : "";
  if (machine.gpu != wanted) {
    const auto words = [](const std::string& gpu) { return gpu.empty() ? "processors" : gpu; };
    return bad_input(
        "calibration " + inputs.calibration->id,
        fmt::format("it was measured on {}, the scenario runs on {}", words(machine.gpu), words(wanted)));
  }
  if (inputs.device.kind == DeviceKind::gpu) return {};
  if (machine.ranks != inputs.device.ranks || machine.threads_per_rank != inputs.device.threads) {
    return bad_input(
        "calibration " + inputs.calibration->id,
        fmt::format("it holds for {} ranks with {} threads each, the scenario has {} with {}", machine.ranks,
                    machine.threads_per_rank, inputs.device.ranks, inputs.device.threads),
        fmt::format("run `shardlab calibrate --ranks {} --threads {}`", inputs.device.ranks,
                    inputs.device.threads));
  }
  return {};
}

Status check_ranks(const SimulationInputs& inputs) {
  const auto instructions = static_cast<std::int64_t>(inputs.planned.plan.steady.instructions.size());
  if (inputs.spread == nullptr || instructions * inputs.device.ranks <= k_most_instructions_of_ranks)
    return {};
  return bad_input("--ranks",
                   fmt::format("{} ranks of {} instructions each are too many to simulate one by one",
                               inputs.device.ranks, instructions),
                   fmt::format("at most {} ranks of this step, or leave out --ranks all",
                               k_most_instructions_of_ranks / instructions));
}

// What a prediction that gets no memory is about.
MemoryNeed need_of(const SimulationInputs& inputs) {
  const PlannedScenario& planned = inputs.planned;
  std::string work = fmt::format("predicting a step: {} instructions, {} layers, {} micro-batches",
                                 planned.plan.steady.instructions.size(), planned.graph.layers,
                                 planned.plan.steady.micro_batches);
  if (inputs.spread == nullptr) return {work, "lower train.accumulation, or the number of layers"};
  return {work + fmt::format(", each of {} ranks by itself", inputs.device.ranks),
          "fewer ranks, or leave out --ranks all"};
}

Result<RunTrace> simulate_run(const SimulationInputs& inputs, HashedPlans hashes) {
  StepSimulation simulation(inputs, hashes);
  RunTrace run;
  run.provenance = provenance_of(inputs);
  const RunPlan& plan = inputs.planned.plan;
  SHARDLAB_TRY(StepTrace setup, simulation.simulate_step(plan.setup, -1));
  SHARDLAB_TRY(StepTrace first, simulation.simulate_step(plan.first, 0));
  const std::int64_t number = plan.first_steady_step();
  SHARDLAB_TRY(StepTrace steady, inputs.spread == nullptr
                                     ? simulation.simulate_step(plan.steady, number)
                                     : simulation.simulate_all_ranks(plan.steady, number));
  run.warmup.push_back(std::move(setup));
  run.warmup.push_back(std::move(first));
  if (plan.second) {
    SHARDLAB_TRY(StepTrace second, simulation.simulate_step(*plan.second, 1));
    run.warmup.push_back(std::move(second));
  }
  run.steps.push_back(std::move(steady));
  run.overheads = memory_overheads(inputs.planned, inputs.device, inputs.device.runtime);
  if (inputs.device.kind == DeviceKind::gpu) {
    run.life = life_phases(inputs.planned, inputs.device, run);
    SHARDLAB_TRY(const PredictedDevice predicted, simulation.device_memory(run));
    run.device_memory = predicted.memory;
    if (inputs.device.memory.value > 0) run.fit = predicted.fit;
  }
  if (inputs.planned.scenario.measure->detail == MeasureDetail::operators)
    run.operators = simulation.operator_times(plan.steady);
  return run;
}

}  // namespace

Result<AllocatorCalls> allocator_calls(const SimulationInputs& inputs, const RunTrace& predicted) {
  return simulate_allocator_calls(inputs.planned, overheads_of(inputs, predicted),
                                  steps_of(inputs.planned, predicted));
}

Result<bool> repeats_by_micro_batch(const SimulationInputs& inputs, const RunTrace& predicted) {
  if (inputs.device.kind != DeviceKind::gpu) return true;
  return repeats_in_device_memory(inputs.planned, overheads_of(inputs, predicted),
                                  steps_of(inputs.planned, predicted));
}

Result<RunTrace> simulate(const SimulationInputs& inputs, HashedPlans hashes) {
  SHARDLAB_CHECK_OK(check_calibration(inputs));
  SHARDLAB_CHECK_OK(check_ranks(inputs));
  return with_memory_for([&] { return need_of(inputs); }, [&] { return simulate_run(inputs, hashes); });
}

}  // namespace shardlab

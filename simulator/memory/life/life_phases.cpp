#include "simulator/memory/life/life_phases.h"

#include <algorithm>
#include <utility>

#include "engine/scenario/mesh.h"
#include "engine/scenario/strategy_facts.h"
#include "simulator/memory/life/life_rows.h"

namespace shardlab {
namespace {

void add_parameters(const ModelGraph& graph, JobState& job) {
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
    const Bytes bytes = bytes_of(graph.parameters[i].elements(), graph.parameters[i].dtype);
    job.model += bytes;
    if (!graph.is_teachers(make_id<ParameterId>(i))) job.student += bytes;
    job.largest_tensor = std::max(job.largest_tensor, bytes);
  }
}

Bytes largest_unit(const PlannedScenario& planned) {
  if (!facts_of(planned.scenario).gathers_units) return {};
  Bytes most;
  for (const PlanUnit& unit : planned.plan.steady.units)
    most = std::max(most, bytes_of(unit.padded_elements, planned.graph.parameters.front().dtype));
  return most;
}

Bytes carried(const PlannedScenario& planned, BufferClass its) {
  Bytes bytes;
  for (const Buffer& buffer : planned.plan.steady.buffers)
    if (buffer.carried && buffer.buffer_class == its) bytes += buffer.bytes();
  return bytes;
}

}  // namespace

JobState job_state(const PlannedScenario& planned, const Device& device, const RunTrace& predicted) {
  JobState job{.planned = planned, .device = device, .predicted = predicted};
  job.between = carried_bytes(planned.plan.steady);
  add_parameters(planned.graph, job);
  const Bytes of_rank = carried(planned, BufferClass::optimizer_state);
  job.optimizer = of_rank * resolve_mesh(planned.scenario).shard;  // of the ranks that share a copy
  job.own = carried(planned, BufferClass::parameter_shard) + of_rank;
  job.largest_unit = largest_unit(planned);
  for (const MemoryOverhead& row : predicted.overheads)
    if (row.where == OverheadPlace::host) job.processes += row.bytes;
  job.ranks_per_node = std::max(1, device.ranks_per_node);
  return job;
}

Bytes peak_of(const StepTrace& step) {
  Bytes peak;
  for (const MemorySample& sample : step.ranks.front().memory) peak = std::max(peak, sample.peak);
  return peak;
}

std::vector<PhaseMemory> life_phases(const PlannedScenario& planned, const Device& device,
                                     const RunTrace& predicted) {
  const JobState job = job_state(planned, device, predicted);
  std::vector<PhaseMemory> phases = construction_phases(job);
  const auto add = [&phases](std::vector<PhaseMemory> more) {
    for (PhaseMemory& phase : more) phases.push_back(std::move(phase));
  };
  add(step_phases(job));
  add({evaluation_phase(job)});
  add(saving_phases(job));
  return phases;
}

}  // namespace shardlab

#include "engine/cli/plan_json.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "engine/plan/group_ranks.h"
#include "engine/plan/unit_sizes.h"
#include "engine/report/unit_warnings.h"

namespace shardlab {
namespace {

template <typename Ids, typename Name>
Json names_of(const Ids& ids, Name name) {
  Json names = Json::array();
  for (const auto id : ids) names.push_back(name(id));
  return names;
}

Json buffer_names(const StepPlan& step, const std::vector<BufferId>& ids) {
  return names_of(ids, [&](BufferId id) { return step.buffer(id).name; });
}

Json dtype_of(const StepPlan& step, const Instruction& instruction) {
  const std::vector<BufferId>& buffers = instruction.writes.empty() ? instruction.reads : instruction.writes;
  if (buffers.empty()) return nullptr;
  return to_string(step.buffer(buffers.front()).dtype);
}

Json instruction_json(const PlannedScenario& planned, const StepPlan& step, std::size_t index, int rank) {
  const Instruction& instruction = step.instructions[index];
  Json json;
  json["id"] = index;
  json["stream"] = step.streams[instruction.stream.index()].name;
  json["kind"] = to_string(instruction.kind);
  json["unit"] = instruction.unit ? Json(step.units[instruction.unit->index()].name) : Json();
  json["segment"] = instruction.segment ? Json(step.segments[instruction.segment->index()].name) : Json();
  json["micro_batch"] = instruction.micro_batch ? Json(*instruction.micro_batch) : Json();
  json["group"] = instruction.group
                      ? Json(ranks_of_group(step.groups[instruction.group->index()], planned.scenario, rank))
                      : Json();
  const bool has_root =
      instruction.kind == InstructionKind::Reduce || instruction.kind == InstructionKind::Broadcast;
  if (has_root) json["root"] = instruction.root;
  json["reduce"] = instruction.reduce == ReduceOperation::none ? Json() : Json(to_string(instruction.reduce));
  json["bytes"] = instruction.bytes.value;
  json["dtype"] = dtype_of(step, instruction);
  json["reads"] = buffer_names(step, instruction.reads);
  json["writes"] = buffer_names(step, instruction.writes);
  json["allocates"] = buffer_names(step, instruction.allocates);
  json["frees"] = buffer_names(step, instruction.frees);
  json["waits"] = names_of(instruction.waits, [](InstructionId id) { return id.value; });
  json["pass"] = step.passes[instruction.pass];
  return json;
}

Json buffer_json(const StepPlan& step, const Buffer& buffer) {
  return {{"name", buffer.name},
          {"class", to_string(buffer.buffer_class)},
          {"dtype", to_string(buffer.dtype)},
          {"elements", buffer.elements},
          {"bytes", buffer.bytes().value},
          {"stream", step.streams[buffer.stream.index()].name},
          {"unit", buffer.unit ? Json(step.units[buffer.unit->index()].name) : Json()},
          {"carried", buffer.carried},
          {"kept", buffer.kept}};
}

}  // namespace

Json units_json(const PlannedScenario& planned, const StepPlan& step) {
  const std::vector<Bytes> gathered = gathered_bytes(step);
  Json units = Json::array();
  for (std::size_t i = 0; i < step.units.size(); ++i) {
    const Unit& unit = planned.partition.units[i];
    Json parameters = Json::array(), modules = Json::array();
    for (const ModuleId id : unit.modules) modules.push_back(planned.graph.module(id).path);
    for (const ParameterId id : unit.parameters) parameters.push_back(planned.graph.parameter(id).name);
    units.push_back({{"name", step.units[i].name},
                     {"modules", std::move(modules)},
                     {"class", unit.class_name(planned.graph)},
                     {"elements", step.units[i].elements},
                     {"padded_elements", step.units[i].padded_elements},
                     {"gathered_bytes", gathered[i].value},
                     {"parameters", std::move(parameters)},
                     {"segments", names_of(unit.segments,
                                           [&](SegmentId id) { return step.segments[id.index()].name; })}});
  }
  return units;
}

Json segments_json(const StepPlan& step) {
  Json segments = Json::array();
  for (const PlanSegment& segment : step.segments) {
    segments.push_back({{"name", segment.name},
                        {"unit", step.units[segment.unit.index()].name},
                        {"operators", Json::array({segment.begin.value, segment.end.value})},
                        {"forward_peak_bytes", segment.forward_peak.value},
                        {"backward_peak_bytes", segment.backward_peak.value}});
    if (!segment.recompute_end) continue;
    segments.back()["recomputed_operators"] =
        Json::array({segment.begin.value, segment.recompute_end->value});
    segments.back()["recompute_peak_bytes"] = segment.recompute_peak.value;
  }
  return segments;
}

Json plan_document(const PlannedScenario& planned, const StepPlan& step, int rank) {
  Json json;
  json["scenario"] = planned.scenario.name;
  json["phase"] = to_string(step.phase);
  json["strategy"] = step.strategy;
  json["plan_hash"] = plan_hash(step);
  json["run_hash"] = run_hash(planned.plan);
  json["world_size"] = step.world_size;
  json["rank"] = rank;
  json["micro_batches"] = step.micro_batches;
  json["carried_bytes"] = carried_bytes(step).value;
  json["units"] = units_json(planned, step);
  json["warnings"] = unit_warnings(planned);
  json["segments"] = segments_json(step);
  json["streams"] = Json::array();
  for (const Stream& stream : step.streams) json["streams"].push_back(stream.name);
  json["buffers"] = Json::array();
  for (const Buffer& buffer : step.buffers) json["buffers"].push_back(buffer_json(step, buffer));
  json["instructions"] = Json::array();
  for (std::size_t i = 0; i < step.instructions.size(); ++i) {
    json["instructions"].push_back(instruction_json(planned, step, i, rank));
  }
  return json;
}

}  // namespace shardlab

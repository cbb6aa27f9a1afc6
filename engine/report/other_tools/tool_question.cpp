#include <algorithm>
#include <optional>
#include <set>

#include "engine/plan/unit_sizes.h"
#include "engine/report/other_tools/other_tools.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/offload_spec.h"

namespace shardlab {
namespace {

std::int64_t own_parameters(const ModelGraph& graph, ModuleId id) {
  std::int64_t own = 0;
  for (const ParameterId each : graph.module(id).parameters) own += graph.parameter(each).model_elements();
  return own;
}

// Each once, whoever else has it too.
void collect(const ModelGraph& graph, ModuleId id, std::set<ParameterId>& all) {
  const Module& module = graph.module(id);
  all.insert(module.parameters.begin(), module.parameters.end());
  for (const ModuleId child : module.children) collect(graph, child, all);
}

std::int64_t all_parameters(const ModelGraph& graph, ModuleId id) {
  std::set<ParameterId> all;
  collect(graph, id, all);
  std::int64_t sum = 0;
  for (const ParameterId each : all) sum += graph.parameter(each).model_elements();
  return sum;
}

// The part of a causal model that holds its layers.
ModuleId base_of(const ModelGraph& graph) {
  ModuleId base{0};
  std::int64_t most = -1;
  for (const ModuleId child : graph.modules.front().children) {
    if (graph.is_teachers(child) || all_parameters(graph, child) <= most) continue;
    most = all_parameters(graph, child);
    base = child;
  }
  return base;
}

std::int64_t largest_layer(const ModelGraph& graph, ModuleId id) {
  const Module& module = graph.module(id);
  if (module.children.empty() || module.class_name == graph.block_class) return all_parameters(graph, id);
  std::int64_t most = 0;
  for (const ModuleId child : module.children) most = std::max(most, largest_layer(graph, child));
  return most;
}

bool has_shards(const StepPlan& plan, BufferClass its) {
  return std::any_of(plan.buffers.begin(), plan.buffers.end(),
                     [&](const Buffer& buffer) { return buffer.buffer_class == its && buffer.shards > 1; });
}

// Gathered more than once a micro-batch, parameters are no one's between forward and backward.
int stage_of(const StepPlan& plan) {
  if (has_shards(plan, BufferClass::parameter_shard)) {
    const std::vector<int> times = times_gathered(plan);
    const bool again =
        std::any_of(times.begin(), times.end(), [&](int count) { return count > plan.micro_batches; });
    return again ? 3 : 2;
  }
  if (has_shards(plan, BufferClass::gradient_shard)) return 2;
  return has_shards(plan, BufferClass::optimizer_state) ? 1 : 0;
}

std::string beyond_all(const PlannedScenario& planned) {
  if (planned.graph.teacher) return "knows one model, and this is a distillation";
  if (trainable_parameters(planned.graph) != total_parameters(planned.graph))
    return "takes every parameter for trained, and some are frozen";
  return "";
}

}  // namespace

ToolQuestion tool_question(const PlannedScenario& planned) {
  const ModelGraph& graph = planned.graph;
  ToolQuestion question;
  question.parameters = total_parameters(graph);
  for (std::size_t i = 0; i < graph.modules.size(); ++i)
    question.largest_module = std::max(question.largest_module, own_parameters(graph, make_id<ModuleId>(i)));
  question.base_parameters = all_parameters(graph, base_of(graph));
  question.largest_layer = largest_layer(graph, base_of(graph));
  question.model = model_dimensions(graph);
  question.sequence_length = graph.sequence_length;
  question.micro_batch = graph.micro_batch;
  question.ranks = planned.plan.steady.world_size;
  question.stage = stage_of(planned.plan.steady);
  question.shards = question.stage > 0 ? resolve_mesh(planned.scenario).shard : 1;
  question.compute = graph.compute_dtype;
  question.recomputes = planned.scenario.activation->checkpoint == ActivationCheckpoint::full;
  question.beyond = beyond_all(planned);
  return question;
}

std::vector<ToolAnswer> other_tools(const PlannedScenario& planned) {
  const ToolQuestion question = tool_question(planned);
  std::vector<ToolAnswer> answers = {ask_deepspeed_zero2(question), ask_deepspeed_zero3(question),
                                     ask_accelerate(question), ask_cookbook(question),
                                     ask_llm_analysis(question)};
  if (question.beyond.empty()) return answers;
  for (ToolAnswer& each : answers) {
    each.bytes.reset();
    each.formula = question.beyond;
  }
  return answers;
}

}  // namespace shardlab

// The model of the recorded `golden` steps, small enough to follow by hand, and its plans.
#pragma once

#include "engine/model/graph_builder.h"
#include "engine/model/operators/operator_list.h"
#include "engine/passes/free_activations.h"
#include "engine/plan/check.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/train_spec.h"
#include "engine/strategies/driver.h"
#include "engine/strategies/optimizer_tail.h"
#include "tests/catch.h"

namespace shardlab::test {

// Embedding 20 x 10 and head 20 x 15 in the root, four units of one 20 x 50 weight: rows divide by 4 ranks.
// Widths do not chain; the planner only needs the order of operators and the sizes of parameters.
inline ModelGraph golden_model() {
  GraphOptions options;
  options.compute_dtype = DType::bfloat16;
  GraphBuilder builder("golden", options);
  const ModuleId model = builder.add_module(std::nullopt, "", "Model");
  std::vector<std::pair<ModuleId, ParameterId>> linears;
  const auto add = [&](const char* name, const char* class_name, Shape shape) {
    const ModuleId module = builder.add_module(model, name, class_name);
    linears.emplace_back(module,
                         builder.add_parameter(module, "weight", std::move(shape), InitialValue::ones));
  };
  add("embed", "Embedding", {20, 10});
  for (const char* name : {"u0", "u1", "u2", "u3"}) add(name, "Unit", {20, 50});
  add("head", "Linear", {20, 15});
  const TensorId tokens = builder.add_input("tokens", {1, 1}, DType::int64, TensorRole::tokens);
  const TensorId targets = builder.add_input("targets", {1, 1}, DType::int64, TensorRole::targets);
  TensorId x = builder.add_operator(k_embedding, linears[0].first, {tokens}, {linears[0].second}, "hidden",
                                    {1, 1, 50});
  for (std::size_t i = 1; i < linears.size(); ++i) {
    x = builder.add_operator(k_linear, linears[i].first, {x}, {linears[i].second}, "hidden", {1, 1, 50});
  }
  const TensorId loss = builder.add_operator(k_cross_entropy, model, {x, targets}, {}, "loss", Shape{});
  return builder.finish(loss, "Unit", 4, 20);
}

inline StepPlan golden_plan(const ModelGraph& graph, const Scenario& scenario) {
  std::vector<ModuleId> units;
  for (std::size_t i = 0; i < graph.modules.size(); ++i) {
    if (graph.modules[i].class_name == "Unit") units.push_back(make_id<ModuleId>(i));
  }
  Partition partition = make_partition(graph, units, {});
  for (Unit& unit : partition.units) {
    unit.settings.precision.param = *scenario.precision->param;
    unit.settings.precision.reduce = *scenario.precision->reduce;
    if (&unit != &partition.units.front())
      unit.settings.reshard_after_forward = scenario.parallel->reshard_after_forward;
  }
  const auto type = find_strategy(scenario.parallel->strategy);
  REQUIRE(type);
  // The third step: the host's events come from the second one.
  StepPlan plan;
  for (const PlanPhase phase : {PlanPhase::first, PlanPhase::second, PlanPhase::steady}) {
    StepBuilder builder(graph, partition, phase, scenario.parallel->strategy);
    for (const LeftEvent& event : plan.left_events) builder.plan().taken_events.push_back(event.name);
    StepStrategies strategies(builder, type->make(builder, scenario));
    strategies.student().declare_persistent();
    drive_step(builder, strategies, scenario);
    emit_optimizer_tail(builder, strategies.student(), *scenario.train);
    strategies.student().end_of_step();
    builder.plan().world_size = world_size(scenario);
    plan = free_activations(builder.finish());
    REQUIRE(check_plan(plan));
  }
  return plan;
}

}  // namespace shardlab::test

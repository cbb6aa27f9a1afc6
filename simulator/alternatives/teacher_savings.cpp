// A teacher runs forward only, so what it holds is parameters: how many a rank stores, in how many bytes, and
// how long gathered ones stay.
#include <string_view>

#include <fmt/format.h>

#include "engine/scenario/distillation_spec.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/teacher_scenario.h"
#include "simulator/alternatives/savings.h"
#include "simulator/alternatives/settings_that_could_hasten.h"

namespace shardlab {
namespace {

using C = BufferClass;

bool shards_teachers(const StrategyFacts& facts) {
  return facts.gathers_units && facts.proposed && facts.why_no_teacher.empty();
}

void add_teacher_shards(const PlannedScenario& planned, const Scenario& teacher, Savings& savings) {
  const int ranks = planned.plan.steady.world_size;
  if (ranks < 2) return;
  const double all_but_one = 1 - 1.0 / ranks;
  if (replicates_state(teacher))
    savings.push_back({fmt::format("distillation.teacher.parallel={{strategy: {}}}",
                                   sharding_for_teacher(planned.scenario)),
                       "shards the teacher over the ranks",
                       {C::parameter},
                       all_but_one});
  else if (resolve_mesh(teacher).replicate > 1)
    savings.push_back({"distillation.teacher.parallel.mesh={replicate: 1}",
                       "shards the teacher over all ranks",
                       {C::parameter_shard},
                       all_but_one});
}

void add_teacher_resharding(const Scenario& teacher, Savings& savings) {
  const StrategyFacts& facts = facts_of(teacher);
  const std::vector<BufferClass> gathered = {C::gathered_parameters, C::gather_buffer};
  if (accepts(facts, "parallel.reshard_after_forward"))
    savings.push_back({"distillation.teacher.parallel.reshard_after_forward=true",
                       "frees the teacher's layers after its forward", gathered});
  if (accepts(facts, "parallel.sharding") && teacher.parallel->sharding == Fsdp1Sharding::shard_grad_op)
    savings.push_back({"distillation.teacher.parallel.sharding=full_shard",
                       "frees the teacher's layers after its forward", gathered});
}

}  // namespace

std::string_view sharding_for_teacher(const Scenario& student) {
  if (shards_teachers(facts_of(student))) return strategy_name(student);
  std::string_view newest;
  for (const KnownStrategy& each : known_strategies())
    if (each.built && shards_teachers(*each.facts)) newest = each.name;
  return newest;
}

void add_teacher_savings(const PlannedScenario& planned, Savings& savings) {
  if (!planned.scenario.distillation) return;
  const Scenario teacher = teacher_scenario(planned.scenario);
  add_teacher_shards(planned, teacher, savings);
  add_teacher_resharding(teacher, savings);
  if (teacher.model->dtype == DType::float32)
    savings.push_back(
        {"distillation.teacher.dtype=bfloat16",
         "stores the teacher in 16 bits: it is not trained",
         {C::parameter, C::parameter_shard, C::gathered_parameters, C::gather_buffer, C::activation},
         0.5,
         Touches::teacher});
}

std::vector<SettingsToTry> teacher_settings_that_could_hasten(const PlannedScenario& planned) {
  std::vector<SettingsToTry> found;
  if (!planned.scenario.distillation) return found;
  const Scenario teacher = teacher_scenario(planned.scenario);
  const StrategyFacts& facts = facts_of(teacher);
  if (accepts(facts, "parallel.reshard_after_forward") &&
      teacher.parallel->reshard_after_forward.kind != ReshardKind::never)
    found.push_back({{"distillation.teacher.parallel.reshard_after_forward=false"},
                     "gathers the teacher once, keeps it whole"});
  if (accepts(facts, "parallel.sharding") && teacher.parallel->sharding == Fsdp1Sharding::full_shard)
    found.push_back({{"distillation.teacher.parallel.sharding=shard_grad_op"},
                     "gathers the teacher once, keeps it whole"});
  if (teacher.model->dtype == DType::float32)
    found.push_back({{"distillation.teacher.dtype=bfloat16"}, "the teacher computes in 16 bits"});
  return found;
}

}  // namespace shardlab

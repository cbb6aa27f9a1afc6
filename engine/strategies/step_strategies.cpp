#include "engine/strategies/step_strategies.h"

#include "engine/model/join_teacher.h"
#include "engine/scenario/distillation_spec.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/teacher_scenario.h"

namespace shardlab {
namespace {

StrategyScope scope_of(const Partition& partition, bool teacher) {
  StrategyScope scope;
  for (std::size_t i = 0; i < partition.units.size(); ++i) {
    if (partition.units[i].teacher == teacher) scope.units.push_back(make_id<UnitId>(i));
  }
  scope.root = scope.units.front();
  scope.forward_only = teacher;
  if (teacher) scope.stream_prefix = k_teacher_prefix;
  return scope;
}

}  // namespace

StepStrategies::StepStrategies(StepBuilder& builder, std::unique_ptr<Strategy> strategy)
    : b_(builder), student_(std::move(strategy)) {}

StepStrategies::StepStrategies(StepBuilder& builder, const RunStrategies& run, const Scenario& scenario)
    : b_(builder) {
  if (!run.teacher) {
    student_ = run.type.make(builder, scenario);
    return;
  }
  students_scope_ = scope_of(builder.partition(), false);
  teachers_scope_ = scope_of(builder.partition(), true);
  teachers_pass_ = std::string(k_teacher_prefix) + strategy_name(*run.teacher);
  teachers_scope_.teachers_mesh = resolve_mesh(*run.teacher) != resolve_mesh(scenario);
  builder.set_scope(students_scope_);
  student_ = run.type.make(builder, scenario);
  builder.set_scope(teachers_scope_);
  teacher_ = run.teacher_type->make(builder, *run.teacher);
  builder.set_scope(students_scope_);
}

Result<RunStrategies> find_run_strategies(const Scenario& scenario) {
  RunStrategies strategies;
  SHARDLAB_TRY(strategies.type, find_strategy(strategy_name(scenario)));
  if (!scenario.distillation) return strategies;
  strategies.teacher = teacher_scenario(scenario);
  SHARDLAB_TRY(strategies.teacher_type, find_strategy(strategy_name(*strategies.teacher)));
  return strategies;
}

}  // namespace shardlab

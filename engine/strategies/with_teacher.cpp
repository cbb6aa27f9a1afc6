#include "engine/strategies/with_teacher.h"

#include <utility>

#include "engine/model/join_teacher.h"
#include "engine/scenario/mesh.h"
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

// Hands every hook to the strategy whose unit it speaks of.
class WithTeacher : public Strategy {
 public:
  WithTeacher(StepBuilder& builder, const RunStrategies& types, const Scenario& scenario)
      : Strategy(builder),
        teachers_pass_(std::string(k_teacher_prefix) + std::string(types.teacher_type->name)),
        students_scope_(scope_of(builder.partition(), false)),
        teachers_scope_(scope_of(builder.partition(), true)) {
    if (resolve_mesh(*types.teacher) != resolve_mesh(scenario)) teachers_scope_.teachers_mesh = true;
    builder.set_scope(students_scope_);
    student_ = types.type.make(builder, scenario);
    builder.set_scope(teachers_scope_);
    teacher_ = types.teacher_type->make(builder, *types.teacher);
    builder.set_scope(students_scope_);
  }

  void declare_persistent() override {
    student_->declare_persistent();
    with_teacher([](Strategy& teacher) { teacher.declare_persistent(); });
  }

  // A model's own hook of a micro-batch hangs on the forward of its root.
  void pre_forward(UnitId unit) override {
    const bool begins = is_root(unit) && forward_sense() != ForwardSense::recomputation;
    of(unit, [&](Strategy& strategy) {
      if (begins) strategy.begin_micro_batch(micro_batch(), reduces());
      strategy.pre_forward(unit);
    });
  }
  void post_forward(UnitId unit) override {
    of(unit, [&](Strategy& strategy) { strategy.post_forward(unit); });
  }

  // Backward is the student's alone.
  void pre_backward(UnitId unit) override { student().pre_backward(unit); }
  void post_backward(UnitId unit) override { student().post_backward(unit); }
  void gradients_ready(SegmentId segment) override { student_->gradients_ready(segment); }
  void end_of_backward() override { student_->end_of_backward(); }
  void end_of_step() override {
    student_->end_of_step();
    with_teacher([](Strategy& teacher) { teacher.end_of_step(); });
  }
  bool second_step_differs() const override {
    return student_->second_step_differs() || teacher_->second_step_differs();
  }

  BufferId compute_parameters(UnitId unit) const override { return owner(unit).compute_parameters(unit); }
  std::int64_t padded_elements(UnitId unit) const override { return owner(unit).padded_elements(unit); }
  std::vector<TrainedUnit> trained_units() const override { return student_->trained_units(); }
  std::optional<GroupId> norm_group() const override { return student_->norm_group(); }
  bool sums_one_norm() const override { return student_->sums_one_norm(); }
  bool gradients_outlive_step() const override { return student_->gradients_outlive_step(); }
  std::optional<GroupId> overflow_group() override { return student_->overflow_group(); }
  BufferId gradient_buffer(ParameterId parameter) override { return student_->gradient_buffer(parameter); }

 private:
  bool is_teachers(UnitId unit) const { return b_.partition().unit(unit).teacher; }
  bool is_root(UnitId unit) const { return unit == students_scope_.root || unit == teachers_scope_.root; }
  const Strategy& owner(UnitId unit) const { return is_teachers(unit) ? *teacher_ : *student_; }

  Strategy& student() {
    student_->set_forward_sense(forward_sense());
    return *student_;
  }

  template <typename Hook>
  void of(UnitId unit, Hook&& hook) {
    if (is_teachers(unit)) {
      with_teacher(hook);
    } else {
      hook(student());
    }
  }

  // Under no_grad: autograd records nothing.
  template <typename Hook>
  void with_teacher(Hook&& hook) {
    b_.set_scope(teachers_scope_);
    b_.set_pass(teachers_pass_);
    teacher_->set_forward_sense(ForwardSense::without_graph);
    hook(*teacher_);
    b_.set_pass(b_.plan().strategy);
    b_.set_scope(students_scope_);
  }

  const std::string teachers_pass_;
  const StrategyScope students_scope_;
  StrategyScope teachers_scope_;
  std::unique_ptr<Strategy> student_, teacher_;
};

}  // namespace

std::unique_ptr<Strategy> RunStrategies::make(StepBuilder& builder, const Scenario& scenario) const {
  if (!teacher) return type.make(builder, scenario);
  return std::make_unique<WithTeacher>(builder, *this, scenario);
}

Result<RunStrategies> find_run_strategies(const Scenario& scenario) {
  RunStrategies strategies;
  SHARDLAB_TRY(strategies.type, find_strategy(scenario.parallel.strategy));
  if (!scenario.distillation) return strategies;
  strategies.teacher = teacher_scenario(scenario);
  SHARDLAB_TRY(strategies.teacher_type, find_strategy(strategies.teacher->parallel.strategy));
  return strategies;
}

}  // namespace shardlab

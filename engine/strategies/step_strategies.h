// The strategies that schedule one step: that of the model that is trained and, with a distillation, its
// teacher's.
//
// Mirrored is the loop that people write:
//
//   with torch.no_grad(): teacher_logits = teacher(tokens)
//   loss = distillation_loss(student(tokens), targets, teacher_logits); loss.backward()
//
// so that in every micro-batch the teacher's forward comes first: its gathered units are gone before the
// student keeps anything for backward, and only its logits stay until the student's backward has read them.
// Each model has streams of its own, as two fully_shard or FSDP roots have; ranks that lie on the mesh in the
// same way for both share their communicators, as two meshes over the default process group do.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/base/result.h"
#include "engine/strategies/strategy.h"

namespace shardlab {

// Which strategies a run has.
struct RunStrategies {
  StrategyType type;                // of the model that is trained
  std::optional<Scenario> teacher;  // teacher_scenario(), which the strategy refers to
  std::optional<StrategyType> teacher_type;
};

// bad_input for a strategy that is not there.
Result<RunStrategies> find_run_strategies(const Scenario& scenario);

// Whoever walks the model asks here for the strategy whose unit it has come to. Refers to the builder: one
// builder, one of these.
class StepStrategies {
 public:
  // Neither the scenario nor `run` may go before this does.
  StepStrategies(StepBuilder& builder, const RunStrategies& run, const Scenario& scenario);
  // One model alone.
  StepStrategies(StepBuilder& builder, std::unique_ptr<Strategy> strategy);

  // The one that is trained: backward, gradients and the optimizer are its alone.
  Strategy& student() { return *student_; }
  // The one whose unit this is.
  const Strategy& owner(UnitId unit) const { return is_teachers(unit) ? *teacher_ : *student_; }

  // Calls hook(Strategy&) for the one whose unit this is; a forward of the student's runs in this sense.
  template <typename Hook>
  void of(UnitId unit, ForwardSense sense, Hook&& hook) {
    if (is_teachers(unit)) return with_teacher(hook);
    student_->set_forward_sense(sense);
    hook(*student_);
    student_->set_forward_sense(ForwardSense::ordinary);
  }

  // Calls hook(Strategy&) for all of them, the student first.
  template <typename Hook>
  void each(Hook&& hook) {
    hook(*student_);
    if (teacher_) with_teacher(hook);
  }

  // The second step is not yet like the later ones, whatever the events it takes over.
  bool second_step_differs() const {
    return student_->second_step_differs() || (teacher_ && teacher_->second_step_differs());
  }

 private:
  bool is_teachers(UnitId unit) const { return teacher_ && b_.partition().unit(unit).teacher; }

  // In its scope and under its name. no_grad: autograd records nothing.
  template <typename Hook>
  void with_teacher(Hook&& hook) {
    b_.set_scope(teachers_scope_);
    b_.set_pass(teachers_pass_);
    teacher_->set_forward_sense(ForwardSense::without_graph);
    hook(*teacher_);
    b_.set_pass(b_.plan().strategy);
    b_.set_scope(students_scope_);
  }

  StepBuilder& b_;
  StrategyScope students_scope_, teachers_scope_;
  std::string teachers_pass_;
  std::unique_ptr<Strategy> student_, teacher_;  // no teacher: null
};

}  // namespace shardlab

// A teacher obeys the rules of any model and strategy, and some of its own: nothing of it is trained.
#include <fmt/core.h>

#include "engine/scenario/complaints.h"
#include "engine/scenario/distillation_spec.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/teacher_scenario.h"

namespace shardlab {
namespace {

void check_forward_only(Complaints& c) {
  const ParallelSpec& parallel = *c.scenario.parallel;
  const std::string_view why_not = facts_of(parallel.strategy).why_no_teacher;
  if (!why_not.empty()) {
    c.refuse("parallel.strategy", std::string(why_not),
             fmt::format("use {}: every rank holds the whole teacher", ParallelSpec{}.strategy));
  }
  const auto no_effect = [&](const std::string& key, bool differs) {
    if (differs) c.refuse(key, "has no effect: a teacher has no backward", "remove it");
  };
  const ParallelSpec defaults;
  no_effect("parallel.reshard_after_backward",
            parallel.reshard_after_backward != defaults.reshard_after_backward);
  no_effect("parallel.requires_all_reduce", parallel.requires_all_reduce != defaults.requires_all_reduce);
  no_effect("parallel.prefetch.backward", parallel.prefetch.backward != defaults.prefetch.backward);
  no_effect("parallel.prefetch.backward_depth",
            parallel.prefetch.backward_depth != defaults.prefetch.backward_depth);
  no_effect("model.moe.auxiliary_loss", c.scenario.model->moe.auxiliary_loss.has_value());
  no_effect("precision.reduce", c.scenario.precision->reduce.has_value());
  no_effect("precision.keep_low_precision_grads", c.scenario.precision->keep_low_precision_grads);
}

}  // namespace

void validate_distillation(Complaints& c) {
  if (!c.scenario.distillation) return;
  if (c.scenario.distillation->weight == 0) {
    c.refuse("distillation.weight", "with 0 nothing is learned from the teacher",
             "raise it, or remove distillation");
  }
  const Scenario teacher = teacher_scenario(c.scenario);
  Complaints of_teacher{teacher, c.source, c.problems, true};
  validate_model(of_teacher);
  check_forward_only(of_teacher);
  if (!c.problems.empty()) return;  // the rest needs a valid cluster
  validate_mesh(of_teacher);
  if (c.problems.empty()) validate_strategy(of_teacher);
  validate_parallel(of_teacher, "parallel", *teacher.parallel);
  validate_precision(of_teacher);
}

}  // namespace shardlab

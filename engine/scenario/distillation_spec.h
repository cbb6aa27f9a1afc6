// The section `distillation` of a scenario: the teacher and what is learnt from it.
#pragma once

#include "engine/scenario/model_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/precision_spec.h"

namespace shardlab {

// The frozen model that `model` learns from; it reads the same tokens. See teacher_scenario.h.
struct TeacherSpec {
  ModelSpec model;
  ParallelSpec parallel;
  PrecisionSpec precision;
  friend bool operator==(const TeacherSpec&, const TeacherSpec&) = default;
};

// loss = (1 - weight) * cross-entropy + weight * temperature^2 * KL(teacher || student), see
// model/operators/distillation_loss.cpp.
struct DistillationSpec {
  TeacherSpec teacher;
  double temperature = 1;
  double weight = 0.5;
  friend bool operator==(const DistillationSpec&, const DistillationSpec&) = default;
};

}  // namespace shardlab

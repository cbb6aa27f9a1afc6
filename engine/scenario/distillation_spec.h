// The section `distillation` of a scenario: the teacher and what is learnt from it.
#pragma once

#include "engine/base/boxed.h"

namespace shardlab {

struct ModelSpec;      // model_spec.h
struct ParallelSpec;   // parallel_spec.h
struct PrecisionSpec;  // precision_spec.h

// The frozen model that `model` learns from; it reads the same tokens. See teacher_scenario.h.
struct TeacherSpec {
  Boxed<ModelSpec> model;
  Boxed<ParallelSpec> parallel;
  Boxed<PrecisionSpec> precision;

  TeacherSpec();
  TeacherSpec(const TeacherSpec&);
  TeacherSpec(TeacherSpec&&) noexcept;
  TeacherSpec& operator=(const TeacherSpec&);
  TeacherSpec& operator=(TeacherSpec&&) noexcept;
  ~TeacherSpec();
  friend bool operator==(const TeacherSpec& a, const TeacherSpec& b);
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

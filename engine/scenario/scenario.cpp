#include "engine/scenario/scenario.h"

#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/distillation_spec.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/run_spec.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {

TeacherSpec::TeacherSpec() = default;
TeacherSpec::TeacherSpec(const TeacherSpec&) = default;
TeacherSpec::TeacherSpec(TeacherSpec&&) noexcept = default;
TeacherSpec& TeacherSpec::operator=(const TeacherSpec&) = default;
TeacherSpec& TeacherSpec::operator=(TeacherSpec&&) noexcept = default;
TeacherSpec::~TeacherSpec() = default;
bool operator==(const TeacherSpec& a, const TeacherSpec& b) = default;

Scenario::Scenario() = default;
Scenario::Scenario(const Scenario&) = default;
Scenario::Scenario(Scenario&&) noexcept = default;
Scenario& Scenario::operator=(const Scenario&) = default;
Scenario& Scenario::operator=(Scenario&&) noexcept = default;
Scenario::~Scenario() = default;
bool operator==(const Scenario& a, const Scenario& b) = default;

int micro_batches_of_step(const Scenario& scenario) {
  return scenario.train->accumulation;
}

bool reduces_every_micro_batch(const Scenario& scenario) {
  return scenario.train->sync == GradientSync::every;
}

}  // namespace shardlab

#include "engine/scenario/teacher_scenario.h"

#include "engine/scenario/distillation_spec.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/precision_spec.h"

namespace shardlab {

Scenario teacher_scenario(const Scenario& scenario) {
  Scenario teacher = scenario;
  const TeacherSpec& spec = scenario.distillation->teacher;
  teacher.model = spec.model;
  teacher.model->dropout = 0;  // which is of training alone
  teacher.model->sequence_length = scenario.model->sequence_length;
  teacher.parallel = spec.parallel;
  teacher.precision = spec.precision;
  *teacher.activation = ActivationSpec{};
  *teacher.offload = OffloadSpec{};
  teacher.distillation.reset();
  return teacher;
}

bool is_key_of_teacher(std::string_view key) {
  if (key == "model.sequence_length") return false;  // which is the student's
  const std::string_view section = key.substr(0, key.find('.'));
  return section == "model" || section == "parallel" || section == "precision";
}

std::string teacher_key(const std::string& key) {
  constexpr std::string_view k_model = "model.";
  const std::string inner = key.starts_with(k_model) ? key.substr(k_model.size()) : key;
  return "distillation.teacher." + inner;
}

}  // namespace shardlab

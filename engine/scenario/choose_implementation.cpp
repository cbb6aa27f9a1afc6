#include "engine/scenario/choose_implementation.h"

#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/distillation_spec.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/run_spec.h"

namespace shardlab {

Implementation choose_implementation(const Scenario& scenario) {
  const bool on_gpus = scenario.cluster->device != DeviceKind::cpu;
  return scenario.model->implementation.value_or(on_gpus ? Implementation::eager : Implementation::fused);
}

HostProgram choose_host(const Scenario& scenario) {
  const bool python =
      scenario.cluster->device != DeviceKind::cpu && choose_implementation(scenario) == Implementation::eager;
  return scenario.semantics->host.value_or(python ? HostProgram::python : HostProgram::shardlab);
}

Scenario issued_by_our_executor(Scenario scenario) {
  if (choose_host(scenario) == HostProgram::python && !scenario.semantics->host)
    scenario.semantics->host = HostProgram::shardlab;
  return scenario;
}

std::optional<Scenario> with_implementation(const Scenario& scenario, Implementation implementation) {
  const bool open_teacher = scenario.distillation && !scenario.distillation->teacher.model->implementation;
  if (scenario.model->implementation && !open_teacher) return std::nullopt;
  Scenario decided = scenario;
  if (!decided.model->implementation) decided.model->implementation = implementation;
  if (open_teacher) decided.distillation->teacher.model->implementation = implementation;
  return decided;
}

}  // namespace shardlab

#include "engine/planner/prepare_model.h"

#include <map>
#include <utility>

#include "engine/model/eager.h"
#include "engine/model/join_teacher.h"
#include "engine/model/precision/assign_precision.h"
#include "engine/model/sdpa_kernels.h"
#include "engine/model/wrap/leaf_modules.h"
#include "engine/planner/check_sizes.h"
#include "engine/planner/load_model.h"
#include "engine/scenario/distillation_spec.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/resolve_device.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/teacher_scenario.h"
#include "engine/scenario/train_spec.h"
#include "engine/scenario/zero_options.h"

namespace shardlab {
namespace {

std::map<ModuleId, UnitPrecision> precisions_of(const SettingsByModule& settings) {
  std::map<ModuleId, UnitPrecision> precisions;
  for (const auto& [module, unit] : settings) precisions.emplace(module, unit.precision);
  return precisions;
}

// An optimizer within backward steps unit by unit, or module by module where nothing is gathered: where
// parameters are, gradients are complete first. There nothing but a tie can be in the way.
Result<WrappedModules> wrapped_modules(const Scenario& scenario, const ModelGraph& graph) {
  if (facts_of(scenario).gathers_modules) {
    const LeafSpec leaves = zero_options(scenario).leaf_module;
    SHARDLAB_CHECK_OK(check_leaf_modules(graph, leaves, "parallel.zero"));
    return modules_that_read(graph, leaf_modules(graph, leaves));
  }
  if (!scenario.train->optimizer_in_backward || facts_of(scenario).gathers_units)
    return wrap_modules(graph, scenario.parallel->wrap);
  WrapSpec owners;
  owners.policy = WrapPolicyKind::owners;
  Result<WrappedModules> wrapped = wrap_modules(graph, owners);
  if (wrapped) return wrapped;
  return bad_input("parallel.strategy", "not supported yet: tied parameters with " + strategy_name(scenario),
                   "nearest that works: " + proposed_for("parallel.wrap"));
}

// Keys of the teacher's scenario, which the error names, as they stand in the file.
Error in_teacher(Error error) {
  if (is_key_of_teacher(error.place.name)) error.place.name = teacher_key(error.place.name);
  return error;
}

// As transformers calls torch's attention; flash attention by its own package has a kernel or fails. A
// cluster that cannot be described is refused where it is asked for. Other kernels hold more.
Status choose_kernels(const Scenario& scenario, ModelGraph& graph) {
  const bool by_torch =
      graph.implementation == Implementation::eager && scenario.model->attention == AttentionKind::automatic;
  if (!by_torch) return {};
  const Result<Device> device = resolve_device(*scenario.cluster);
  if (!device || !choose_sdpa_kernels(graph, device->cuda_capability)) return {};
  return check_sizes(scenario, graph);
}

}  // namespace

Result<PreparedModel> prepare_model(const Scenario& scenario, Backward backward) {
  PreparedModel model;
  SHARDLAB_TRY(model.graph, load_model_graph(scenario));
  SHARDLAB_TRY(model.wrapped, wrapped_modules(scenario, model.graph));
  SHARDLAB_TRY(model.settings, resolve_unit_settings(scenario, model.graph, model.wrapped, backward));
  for (const ModuleId ignored : model.wrapped.ignored)
    model.settings[ignored].precision = {scenario.model->dtype, scenario.model->dtype, {}, false};
  SHARDLAB_TRY(model.graph, assign_precision(std::move(model.graph), precisions_of(model.settings),
                                             model.wrapped.joined, scenario.precision->autocast));
  SHARDLAB_CHECK_OK(check_eager_tables(model.graph, scenario.precision->autocast.has_value()));
  SHARDLAB_CHECK_OK(choose_kernels(scenario, model.graph));
  return model;
}

Status add_teacher(PreparedModel& model, const Scenario& scenario, const DistillationSpec& distillation) {
  Result<PreparedModel> teacher = prepare_model(scenario, Backward::never);
  if (!teacher) return fail(in_teacher(std::move(teacher).error()));
  SHARDLAB_TRY(model.graph, join_teacher(std::move(model.graph), teacher->graph,
                                         {distillation.temperature, distillation.weight}));
  const auto joined = [&](ModuleId own) { return joined_module(model.graph, own); };
  for (const ModuleId id : teacher->wrapped.units) model.wrapped.units.push_back(joined(id));
  for (const ModuleId id : teacher->wrapped.ignored) model.wrapped.ignored.push_back(joined(id));
  for (JoinedModules modules : teacher->wrapped.joined) {
    for (ModuleId& id : modules) id = joined(id);
    model.wrapped.joined.push_back(std::move(modules));
  }
  for (const auto& [id, settings] : teacher->settings) model.settings.emplace(joined(id), settings);
  return {};
}

}  // namespace shardlab

// A model whose units are chosen and whose precision is assigned, with the teacher it may be trained by.
#pragma once

#include "engine/base/result.h"
#include "engine/model/model_graph.h"
#include "engine/model/wrap/wrap_modules.h"
#include "engine/scenario/resolve_units.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

// A model, its units and what is set for each.
struct PreparedModel {
  ModelGraph graph;
  WrappedModules wrapped;
  SettingsByModule settings;
};

// load_model_graph(), wrapped as `parallel.wrap` says. bad_input at the key that asks for the impossible.
Result<PreparedModel> prepare_model(const Scenario& scenario, Backward backward);

// Prepares the teacher too and joins it to the student's graph: `teacher` is its own scenario, errors name
// its keys as they stand in the student's file.
Status add_teacher(PreparedModel& model, const Scenario& teacher, const DistillationSpec& distillation);

}  // namespace shardlab

#include "engine/model/segment/program.h"

namespace shardlab {

std::string_view step_operation(const ModelGraph& graph, const ProgramStep& step) {
  if (step.kind == StepKind::accumulate) return "sum";
  if (step.kind == StepKind::copy) return "copy";
  return graph.op(step.op).type->name;
}

}  // namespace shardlab

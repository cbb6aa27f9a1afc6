#include "simulator/exports/exported_scenario.h"

#include <utility>

#include "engine/planner/load_model.h"
#include "engine/scenario/paths/repeatable_scenario.h"

namespace shardlab {

ExportSubject ExportedScenario::subject() const {
  return {read.scenario, read.source, graph, file_stem(read.scenario.name), model_config, scenario_text};
}

Result<ExportedScenario> load_exported_scenario(ReadScenario read) {
  ExportedScenario exported;
  SHARDLAB_TRY(exported.graph, load_model_graph(read.scenario));
  SHARDLAB_TRY(const ModelConfig config, read_model_config(read.scenario));
  exported.model_config = config.text();
  exported.scenario_text = repeatable_scenario(read.scenario);
  exported.read = std::move(read);
  return exported;
}

}  // namespace shardlab

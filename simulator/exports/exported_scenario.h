// A scenario with all that its exports ask of it.
#pragma once

#include <string>

#include "engine/base/result.h"
#include "engine/formats/tools/export_subject.h"
#include "engine/model/model_graph.h"
#include "engine/scenario/read_scenario.h"

namespace shardlab {

struct ExportedScenario {
  ReadScenario read;
  ModelGraph graph;
  std::string model_config;   // as ExportSubject has it
  std::string scenario_text;  // likewise

  // Borrows from this, which must outlive it.
  ExportSubject subject() const;
};

// Reads the model that the scenario names. Errors: those of load_model_graph().
Result<ExportedScenario> load_exported_scenario(ReadScenario read);

}  // namespace shardlab

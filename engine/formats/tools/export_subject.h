// A scenario with the answers that every export asks of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/model/model_graph.h"
#include "engine/scenario/scenario.h"
#include "engine/scenario/source.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {

// Everything is borrowed and must outlive the export.
struct ExportSubject {
  const Scenario& scenario;
  const ScenarioSource& source;
  const ModelGraph& graph;      // of the student, where there is a teacher
  std::string stem;             // the files' name before its first dot
  std::string model_config{};   // the config.json of the model with the scenario's overrides, as JSON
  std::string scenario_text{};  // the scenario as YAML that means the same in any folder
  bool by_trainer = false;      // transformers' Trainer runs it, whoever reads the file
};

// `scenario.name` as a file's name: letters, digits, dots, dashes and underscores, else dashes.
std::string file_stem(std::string_view name);

Framework framework(const ExportSubject& subject);
bool is_fsdp(const ExportSubject& subject);
bool by_deepspeed(const ExportSubject& subject);

int nodes(const ExportSubject& subject);
int ranks_per_node(const ExportSubject& subject);
bool on_processors(const ExportSubject& subject);

// The dtype of gathered parameters and that of the reduction, with the defaults filled in.
DType compute_dtype(const ExportSubject& subject);
DType reduce_dtype(const ExportSubject& subject);

// The 16-bit dtype that "mixed precision" means in other tools: that of units or of autocast, where
// parameters are stored in another. Nothing where all is computed as stored.
std::optional<DType> mixed_precision(const ExportSubject& subject);

// A setting as docs/scenario.md writes it.
std::string shown_setting(const ExportSubject& subject, std::string_view key);

}  // namespace shardlab

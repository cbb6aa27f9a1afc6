// What other tools' formulas say of a scenario's memory, to stand beside a prediction.
//
// One file a tool, with its formula and source; nothing of them is run. A tool that knows no such scenario
// gives no figure and says why.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/plan/planned_scenario.h"
#include "engine/report/model_dimensions.h"

namespace shardlab {

// What the tools ask for, read off a planned scenario.
struct ToolQuestion {
  std::int64_t parameters = 0;
  std::int64_t largest_module = 0;   // most parameters that one module has itself, its children not counted
  std::int64_t base_parameters = 0;  // without a head of its own: what transformers' AutoModel builds
  std::int64_t largest_layer = 0;    // of these, in a layer or in a module without children
  ModelDimensions model;
  std::int64_t sequence_length = 0;
  std::int64_t micro_batch = 0;
  int ranks = 1;
  int shards = 1;  // ranks that share one copy of the state
  int stage = 0;   // ZeRO's: 1 shards the optimizer's state, 2 gradients too, 3 parameters too
  DType compute = DType::float32;
  bool recomputes = false;  // every layer in backward
  std::string beyond;       // why no tool speaks of it; empty where they may
};

struct ToolAnswer {
  std::string tool;
  std::optional<Bytes> bytes;  // a rank's
  std::string formula;         // with the scenario's numbers; why there is no figure where there is none
  std::string source;

  friend bool operator==(const ToolAnswer&, const ToolAnswer&) = default;
};

ToolQuestion tool_question(const PlannedScenario& planned);
std::vector<ToolAnswer> other_tools(const PlannedScenario& planned);

// One a file.
ToolAnswer ask_deepspeed_zero2(const ToolQuestion& question);
ToolAnswer ask_deepspeed_zero3(const ToolQuestion& question);
ToolAnswer ask_accelerate(const ToolQuestion& question);
ToolAnswer ask_cookbook(const ToolQuestion& question);
ToolAnswer ask_llm_analysis(const ToolQuestion& question);

}  // namespace shardlab

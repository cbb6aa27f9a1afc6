// The checkpoint that a scenario starts from, checked against its model.
#pragma once

#include "engine/base/result.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/model/model_graph.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

// Compares names and shapes. What is missing, of another shape, or unknown to the model is named in one
// bad_input (the first few of each). A tied parameter may be there under its other names too; the stacked
// weights of experts may be there one by one, as they are published. In a model with adapters the rest may
// have the names it has without them, and adapters may be missing.
Status match_model(const SafetensorsReader& weights, const ModelGraph& graph);

// False for adapters of the model that matched which the file does not have.
bool has_parameter(const SafetensorsReader& weights, const Parameter& parameter);

// Elements [first, first + values.size()) of a parameter that is there, from one tensor or
// several.
Status read_parameter(const SafetensorsReader& weights, const ModelGraph& graph, const Parameter& parameter,
                      std::int64_t first, std::span<float> values);

// Opens model.weights (a path of the scenario) and matches it.
Result<SafetensorsReader> open_model_weights(const Scenario& scenario, const ModelGraph& graph);

}  // namespace shardlab

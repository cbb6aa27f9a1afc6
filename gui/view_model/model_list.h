// The models that ship with the program, and the modules of one of them.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/model_graph.h"
#include "gui/view_model/data_table.h"

namespace shardlab::view {

struct ModelList {
  DataTable table;  // Row::key is the position in `names` and `graphs`
  std::vector<std::string> names;
  std::vector<ModelGraph> graphs;
  std::vector<Error> problems;  // of models that could not be built
};

ModelList read_models();

// A module and how often it is repeated, one after the other.
struct ModuleLine {
  std::string name;  // "model.layers.0 to 31" for a run of equal ones
  std::string class_name;
  std::int64_t parameters = 0;  // of one, all below it included; tied ones once
  std::int64_t times = 1;
  std::vector<ModuleLine> children;
  std::vector<std::string> own;  // "weight [4096, 14336] float32"
};

// The module tree with equal neighbours folded.
ModuleLine module_tree(const ModelGraph& graph);

// What the parameters of a module add up from: the modules below it and its own.
std::vector<WhyPart> parameter_parts(const ModuleLine& line);
Why why_parameters(const ModuleLine& line);

}  // namespace shardlab::view

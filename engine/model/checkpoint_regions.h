// Regions of activation checkpointing: ranges of operators whose forward keeps nothing and is run again in
// backward.
//
// Source: torch 2.11, utils/checkpoint.py. A region is a repeated layer, every k-th of them (torchtitan's
// count: the k-th, the 2k-th
// ...). Without `reentrant`, recomputation begins when backward asks for the first tensor of the region and
// stops as soon as the last one has been made again: an operator that saves only its inputs is not run again.
// With `reentrant` it begins with the region's backward and runs the whole region.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/model_graph.h"

namespace shardlab {

struct CheckpointRegion {
  ModuleId module;
  OperatorId begin, end;               // its forward is [begin, end)
  OperatorId stop;                     // recomputation runs [begin, stop)
  OperatorId stops_in;                 // its last, where that makes what is saved; else the one at `stop`
  OperatorId trigger;                  // whose backward must not begin before the recomputation
  bool reentrant = false;              // what it returns again lives until its backward is over
  bool around_unit = false;            // where its module is a unit, the unit's hooks run inside the region
  std::vector<OperatorId> retained{};  // ascending: what they make is kept, they are not run again

  bool retains(OperatorId op) const;
};

// `every` from 1. Refuses a model without enough layers, and reentrant regions into which no gradient flows:
// PyTorch would leave their parameters without gradients. A region without anything to save is left out.
// `graph` knows which gradients are required.
Result<std::vector<CheckpointRegion>> checkpoint_regions(const ModelGraph& graph, int every, bool around_unit,
                                                         bool reentrant);

// Operators of one kind that a selective checkpoint keeps: all, or of every `every` the first.
struct RetainedKind {
  const OperatorType* type = nullptr;
  int every = 1;
};

// "linear", or "linear/2": every second, as torchtitan's selective checkpointing by operator. Refuses kinds
// that there are none of.
Result<RetainedKind> parse_retained_kind(const std::string& text);

// Those of activation.operators.
Result<std::vector<RetainedKind>> parse_retained_kinds(const std::vector<std::string>& texts);

// Lets regions retain the operators of these kinds, counted in each region. Refuses a kind that no region
// has.
Status choose_retained(const ModelGraph& graph, std::vector<CheckpointRegion>& regions,
                       const std::vector<RetainedKind>& kinds);

// Likewise, in a graph of which a plan is made. All that such an operator makes is kept until backward, as
// torch.utils.checkpoint's create_selective_checkpoint_contexts (torch 2.11) does with operators that it
// MUST_SAVE; extras become tensors of the graph.
Status retain_operators(ModelGraph& graph, std::vector<CheckpointRegion>& regions,
                        const std::vector<RetainedKind>& kinds);

}  // namespace shardlab

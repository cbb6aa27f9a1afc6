// How the real executor runs one operator: the counterpart of its description (engine/model/operators).
//
// No autograd: forward and backward are plain functions on at::Tensor. The segment's program says which
// storages exist when; an implementation reads and writes the tensors it is handed and allocates nothing that
// outlives the call. What it allocates meanwhile is workspace. All tensors are contiguous, of the shape and
// dtype that the graph gives them; parameters have the compute dtype and may be views into flat buffers. The
// caller allocates everything and disables gradient recording (c10::NoGradGuard or, better,
// c10::InferenceMode) around the calls. Exceptions of ATen propagate: the executor catches them at its edge.
//
// Implementations keep no state; any number of threads may call them at once, on different tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <string_view>
#include <vector>

#include "engine/model/model_graph.h"
#include "engine/model/operators/attribute_keys.h"

namespace shardlab {

struct ForwardArguments {
  const Operator& op;
  const ModelGraph& graph;
  std::span<const at::Tensor> inputs;      // by Operator::inputs
  std::span<const at::Tensor> parameters;  // by Operator::parameters
  std::span<const at::Tensor> outputs;     // by Operator::outputs; written, contents on entry do not matter
  std::span<const at::Tensor> extras;      // by OperatorDescription::extras; written likewise
};

// Where the gradient of a parameter goes: usually a view into a flat gradient buffer. Contiguous, of the
// parameter's shape and the compute dtype.
struct ParameterGradient {
  at::Tensor gradient;      // undefined when none is wanted
  bool accumulate = false;  // add to what is there; else overwrite it
};

struct BackwardArguments {
  const Operator& op;
  const ModelGraph& graph;
  std::span<const at::Tensor>
      output_gradients;  // by Operator::outputs; undefined for the loss, whose gradient is `seed`
  double seed = 1;
  std::span<const at::Tensor>
      saved_inputs;  // by Operator::inputs; undefined where the description keeps none
  std::span<const at::Tensor> saved_outputs;  // by Operator::outputs; likewise
  std::span<const at::Tensor> parameters;     // by Operator::parameters
  std::span<const at::Tensor> extras;         // as forward wrote them

  // By Operator::inputs; overwritten. Undefined where no gradient is wanted. Where the description says
  // overwritten_inputs it may be the saved input itself; where it says passed_gradients it is the output's
  // gradient itself and nothing is to be done. Otherwise it shares no memory with anything.
  std::span<const at::Tensor> input_gradients;
  std::span<const ParameterGradient> parameter_gradients;  // by Operator::parameters
};

struct OperatorImplementation {
  void (*forward)(const ForwardArguments&);
  void (*backward)(const BackwardArguments&);
};

// By the name of the OperatorType; null when there is none. To add one: a file in this folder that defines
// k_<name>_implementation, a line in engine/model/operators/operator_list.h.
const OperatorImplementation* find_implementation(std::string_view name);

}  // namespace shardlab

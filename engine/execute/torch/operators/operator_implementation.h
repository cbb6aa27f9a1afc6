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

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/model/model_graph.h"
#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_type.h"

namespace shardlab {

struct ForwardArguments {
  const Operator& op;
  const ModelGraph& graph;
  std::span<const at::Tensor> inputs;      // by Operator::inputs
  std::span<const at::Tensor> parameters;  // by Operator::parameters
  std::span<const at::Tensor> outputs;     // by Operator::outputs; written, contents on entry do not matter
  std::span<const at::Tensor> extras;      // by OperatorDescription::extras; written likewise
  // What the random masks of an operator with the attribute dropout follow from, one for each sequence of
  // the micro-batch (engine/execute/mask_seeds.h).
  std::span<const std::uint64_t> seeds{};
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

  // Given where the description says that gradients of inputs are made last: allocates those that are
  // `wanted`, which are undefined before. Without it they are there from the start.
  std::function<void()> allocate_input_gradients{};
  InputMask wanted = 0;
  // Gives one of the extras back, where the description says so; it holds nothing after that.
  std::function<void(std::size_t)> give_extra{};

  bool wants(std::size_t input) const {
    return allocate_input_gradients ? (wanted >> input & 1U) != 0 : input_gradients[input].defined();
  }
  // The gradient of an input that is wanted, where the temporaries before it are gone.
  const at::Tensor& input_gradient(std::size_t input) const {
    if (allocate_input_gradients && !input_gradients[input].defined()) allocate_input_gradients();
    return input_gradients[input];
  }
};

struct OperatorImplementation {
  void (*forward)(const ForwardArguments&);
  void (*backward)(const BackwardArguments&);
};

// By the name of the OperatorType; null when there is none. To add one: a file in this folder that defines
// k_<name>_implementation, a line in engine/model/operators/operator_list.h.
const OperatorImplementation* find_implementation(std::string_view name);

}  // namespace shardlab

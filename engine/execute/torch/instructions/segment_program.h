// A segment's program bound to the buffers of one instruction.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/execute/torch/instructions/action.h"
#include "engine/execute/torch/instructions/parameter_ranges.h"
#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/model/segment/program.h"

namespace shardlab {

// What a value of the program is at run time.
struct BoundValue {
  ValueOrigin origin = ValueOrigin::internal;
  Slot slot = k_no_slot;    // of a plan's buffer
  std::uint32_t saved = 0;  // position in the saved list
  bool made_here = false;   // a step allocates it
  Shape sizes;
  c10::ScalarType dtype = c10::ScalarType::Float;
  BufferClass buffer_class = BufferClass::workspace;
};

// A parameter or its gradient: part of a flat buffer, in the parameter's shape.
struct BoundView {
  Slot slot = k_no_slot;
  std::int64_t offset = 0, elements = 0;
  Shape sizes;
  Shape strides;
};

// A storage for gradients of parameters, allocated before the step that writes it first. Where the layout of
// several in one leaves gaps these are zeroed: whoever sums or checks the whole buffer meets no garbage.
struct NewGradient {
  Slot slot = k_no_slot;
  std::size_t part = 0;
  std::vector<ElementRange> padding;
};

struct BoundStep {
  const ProgramStep* step = nullptr;
  const Operator* op = nullptr;  // forward, backward
  const OperatorImplementation* implementation = nullptr;
  std::vector<std::uint32_t> parameters;  // by Operator::parameters, positions in BoundProgram::parameters
  std::vector<std::uint32_t>
      gradients;                 // likewise, in BoundProgram::gradients; k_no_value where none is wanted
  std::vector<bool> accumulate;  // likewise: adds to what is there
  std::vector<NewGradient> new_gradients;
};

struct BoundProgram {
  std::vector<BoundValue> values;
  std::vector<BoundStep> steps;
  std::vector<BoundView> parameters;
  std::vector<BoundView> gradients;
  Slot saved = k_no_slot;
  std::vector<ValueIndex> keeps;  // forward, recompute: what goes into `saved`
  std::vector<Slot> incoming;     // buffers of tensors and their gradients that it frees
  ValueIndex loss = k_no_value;   // forward: the value that is the loss
};

// For a Forward, Recompute or Backward instruction. Errors: not_possible for an operator that a real run
// cannot do yet; internal for an instruction that lacks a buffer.
Result<BoundProgram> bind_program(const Site& site);

}  // namespace shardlab

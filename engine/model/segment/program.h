// The program of a segment: its operators lowered to steps that say what is allocated, computed and freed, in
// order.
//
// The real executor runs the steps, the simulator adds up their bytes and times; there is no second
// description of either.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/inline_list.h"
#include "engine/model/checkpoint_regions.h"
#include "engine/model/model_graph.h"
#include "engine/model/operators/operator_type.h"

namespace shardlab {

using ValueIndex = std::uint32_t;
using ValueList = InlineList<ValueIndex, 4>;
inline constexpr ValueIndex k_no_value = std::numeric_limits<ValueIndex>::max();

enum class ValueOrigin : std::uint8_t {
  tensor_buffer,    // a border tensor, batch or constant: a buffer of the plan
  gradient_buffer,  // the gradient of a border tensor: a buffer of the plan
  saved,            // kept by the segment's forward for its backward
  internal,         // lives within the program
};

// A storage the program touches.
struct ProgramValue {
  ValueOrigin origin = ValueOrigin::internal;
  bool gradient = false;    // holds the gradient of `tensor`, else its value
  bool extra = false;       // an ExtraTensor, not a tensor of the graph
  TensorId tensor;          // whose value or gradient; of an extra: the output of the operator that makes it
  std::uint32_t saved = 0;  // position in the segment's saved list when origin is saved
  DType dtype = DType::float32;
  Shape extra_shape;  // of an extra
  Bytes bytes;
};

enum class StepKind : std::uint8_t {
  forward,     // operands: inputs; results: outputs; extras
  backward,    // operands: gradients of the outputs (k_no_value: the seed of the loss); saved_*; results:
               // gradients of the inputs
  accumulate,  // results[0] += operands[0]; with two operands results[0] = operands[0] + operands[1]
  copy,        // results[0] = operands[0]
};

struct ProgramStep {
  StepKind kind = StepKind::forward;
  OperatorId op;  // forward, backward
  ValueList operands;
  ValueList results;        // k_no_value where no gradient is wanted
  ValueList saved_inputs;   // by input; k_no_value where not kept
  ValueList saved_outputs;  // by output
  ValueList extras;
  ValueList
      allocates;    // before the work; of origin tensor_buffer or gradient_buffer: becomes the plan's buffer
  ValueList frees;  // after the work
  Bytes workspace;  // taken and given back within the work, by our CPU implementation on one thread
  Bytes temporaries;          // likewise, whatever the implementation
  Bytes temporaries_before;   // not zero: the work itself allocates, having taken this much and given it back
  Bytes given_before, given;  // how much of its extras is given back when either is at its most, less by that
  std::uint32_t work_begin = 0, work_end = 0;  // range in Program::work
  std::uint32_t blocks_begin = 0,
                blocks_end = 0;  // range in Program::blocks: the temporaries; none where they are one block
};

struct Program {
  std::vector<ProgramValue> values;
  std::vector<ProgramStep> steps;
  std::vector<Work> work;
  std::vector<Bytes> blocks;  // as OperatorDescription::forward_blocks
  Bytes peak;  // highest sum of what the steps allocate less what they free, above the start of the program;
               // temporaries but no workspace
};

// The two programs of a segment and what they exchange with the plan.
//
// When a segment is recomputed `forward` keeps only what retained operators make: tensors that are buffers of
// the plan, read by `recompute` and `backward` in place of what these operators would have made again.
struct SegmentPrograms {
  Program forward;    // keeps nothing when the segment is recomputed
  Program recompute;  // the part of the forward that is run again, keeping what backward needs; no steps
                      // where none is
  Program
      backward;  // no steps where no required gradient flows: there is no Backward, and forward keeps nothing
  bool recomputed = false;
  std::vector<ValueIndex> keeps;  // values of keeper() kept for backward, in the order of the saved list
  Bytes saved_bytes;              // their sum
  std::vector<TensorId> recomputed_outputs;  // border tensors that `recompute` makes again
  std::vector<TensorId>
      backward_reads;  // border and retained tensors, batch and constants that backward reads
  std::vector<TensorId> forward_frees;  // inputs that nobody reads once a module of this segment has returned
  std::vector<TensorId> recompute_frees;   // retained tensors that only the recomputation reads
  std::vector<TensorId> backward_frees;    // the other retained ones of this segment: dropped while it runs
  std::vector<TensorId> gradient_inputs;   // border outputs whose gradients backward consumes
  std::vector<TensorId> gradient_outputs;  // border inputs whose gradients backward produces
  std::vector<bool>
      gradient_accumulates;  // by gradient_outputs: a later segment made it already, this one adds to it

  bool has_backward() const { return !backward.steps.empty(); }
  // The program that keeps what backward needs.
  const Program& keeper() const { return recomputed ? recompute : forward; }
};

// How a segment of a checkpointed region is run again.
struct Recomputation {
  OperatorId stop;  // [begin, stop) is run, all of it, part of it or nothing
  std::vector<bool>
      into_buffer;  // by outputs: made again as a buffer of the plan; else it lives within the program
  const CheckpointRegion* region = nullptr;
};

// What lowering needs to know of a segment besides its operators.
struct SegmentBorders {
  OperatorId begin, end;
  const std::vector<TensorId>& inputs;
  const std::vector<TensorId>& outputs;
  const std::vector<TensorId>& retained;  // what retained operators of the segment make
  std::vector<bool> consumed_later;       // by inputs: a later segment reads the tensor too
  std::optional<Recomputation> recomputation;

  bool retains(OperatorId op) const { return recomputation && recomputation->region->retains(op); }
};

SegmentPrograms lower_segment(const ModelGraph& graph, const SegmentBorders& borders);

// Program::peak of its steps as they are.
Bytes peak_of(const Program& program);

// What a step of a program is called where times are listed by operation.

// The operator's name; "sum" and "copy" for gradients that meet. Lives as long as the program runs.
std::string_view step_operation(const ModelGraph& graph, const ProgramStep& step);

}  // namespace shardlab

// A linear layer whose frozen weight is stored in four bits an element: the weight is made anew in the dtype
// of its input before each product, forward and backward, and freed behind it.
//
// Source: bitsandbytes 0.50.2, autograd/_functions.py (MatMul4Bit), backends/default/ops.py
// (_gemm_4bit_default_impl) and functional.py (dequantize_4bit); torchao's NF4Tensor does the same
// (dtypes/nf4tensor.py, LinearNF4). Nothing is kept for backward but the packed weight, which has no
// gradient: under FSDP1 its part of a unit's flat gradient is zeros. Up to 1536 rows bitsandbytes has fused
// kernels for some devices (backends/cuda/ops.py), which are left out here.
//
// Inputs: x; scales of 64 elements each, float32, or with double quantization uint8; then scales of 256 of
// those, float32.
#pragma once

#include "engine/model/operators/eager_steps.h"

namespace shardlab {

class FourBitLinear {
 public:
  FourBitLinear(const ModelGraph& graph, const Operator& op)
      : x_(graph.tensor(op.inputs[0])),
        weight_(graph.parameter(op.parameters[0])),
        scales_(graph.tensor(op.inputs[1])),
        is_double_(op.inputs.size() > 2) {}

  void describe(std::int64_t rows, std::int64_t outputs, std::int64_t inputs,
                OperatorDescription& description) const {
    EagerSteps forward;
    if (is_double_) widen_scales(forward, true);
    make_weight(forward);
    forward.results_follow();
    describe_forward(description, forward);
    description.forward.push_back(matmul_work(rows, outputs, inputs, x_.dtype));
    if (!x_.requires_grad) return;
    EagerSteps backward;
    if (is_double_) widen_scales(backward, false);
    make_weight(backward);
    if (is_double_) backward.give(wide_scales());
    backward.allocate_results();
    describe_backward(description, backward);
    description.backward.push_back(matmul_work(rows, inputs, outputs, x_.dtype));
  }

 private:
  Bytes wide_scales() const { return bytes_of(element_count(scales_.shape), DType::float32); }

  // Scales in eight bits, looked up and multiplied, then their mean is added: forward into another tensor.
  void widen_scales(EagerSteps& steps, bool anew) const {
    const Bytes wide = wide_scales();
    steps.make(wide, scales_.bytes() + wide);
    if (!anew) return steps.kernel(wide * 2);
    steps.make(wide, wide * 2);
    steps.give(wide);
  }

  void make_weight(EagerSteps& steps) const {
    const Bytes whole = bytes_of(weight_.model_elements(), x_.dtype);
    const Bytes packed = bytes_of(weight_.elements(), weight_.dtype);
    steps.make(whole, packed + wide_scales() + whole);
  }

  const Tensor& x_;
  const Parameter& weight_;
  const Tensor& scales_;
  bool is_double_;
};

}  // namespace shardlab

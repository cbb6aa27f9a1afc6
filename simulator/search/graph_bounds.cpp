#include "simulator/search/graph_bounds.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "engine/model/checkpoint_regions.h"
#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_type.h"
#include "engine/scenario/offload_spec.h"

namespace shardlab {
namespace {

// Elements of the products are as wide as their least traffic says, as in the cost of programs.
DType dtype_of(const ModelGraph& graph, const Operator& op, const Work& work) {
  const std::int64_t elements = work.m * work.k + work.k * work.n + work.m * work.n;
  if (work.bytes.value == elements * work.batch * work.kernels * 4) return DType::float32;
  const bool half = std::any_of(op.inputs.begin(), op.inputs.end(),
                                [&](TensorId id) { return graph.tensor(id).dtype == DType::float16; });
  return half ? DType::float16 : DType::bfloat16;
}

DType floating_input(const ModelGraph& graph, const Operator& op) {
  for (const TensorId input : op.inputs)
    if (is_floating_point(graph.tensor(input).dtype)) return graph.tensor(input).dtype;
  return graph.tensor(op.outputs[0]).dtype;
}

// A backward may mean the product of the weight or that of the input; a calibration tells them apart.
double least_matmul_ns(const MatmulShape& shape,
                       const std::array<MatmulCoefficients, k_matmul_uses>& products, Direction direction) {
  const auto of = [&](MatmulUse use) { return matmul_ns(shape, products[static_cast<std::size_t>(use)]); };
  if (direction == Direction::forward) return of(MatmulUse::forward);
  return std::min(of(MatmulUse::input_gradient), of(MatmulUse::weight_gradient));
}

double work_ns(const ModelGraph& graph, const Operator& op, const Work& work, Direction direction,
               const CostCoefficients& coefficients) {
  const auto side = static_cast<std::size_t>(direction);
  switch (work.kind) {
    case WorkKind::matmul: {
      const MatmulShape shape{work.m * work.batch, work.n, work.k, work.bytes / work.kernels};
      const auto& products =
          work.float8 ? coefficients.float8 : coefficients.of(dtype_of(graph, op, work)).matmul;
      return work.kernels * least_matmul_ns(shape, products, direction);
    }
    case WorkKind::attention: {
      const Shape& q = graph.tensor(op.inputs[0]).shape;
      const AttentionWork attention{work.flops, q[1], op.attributes.get(attribute::k_head_dim),
                                    q[0] * op.attributes.get(attribute::k_heads), work.masked};
      return attention_ns(attention, coefficients.of(floating_input(graph, op)).attention[side]);
    }
    case WorkKind::memory: {
      const bool compiled = op.attributes.get_or(attribute::k_compiled, false);
      return traffic_ns(
          {work.bytes, work.kernels},
          coefficients.traffic_of_operator(op.type->name, direction, floating_input(graph, op), compiled));
    }
  }
  return 0;
}

// None where the planner will refuse them.
std::vector<CheckpointRegion> regions_in(const Scenario& scenario, const ModelGraph& graph) {
  const ActivationSpec& activation = *scenario.activation;
  if (activation.checkpoint == ActivationCheckpoint::none) return {};
  auto regions = checkpoint_regions(graph, activation.every, false, activation.reentrant);
  if (!regions) return {};
  if (activation.checkpoint == ActivationCheckpoint::selective) {
    const auto kinds = parse_retained_kinds(activation.operators);
    if (!kinds || !choose_retained(graph, *regions, *kinds)) return {};
  }
  return *std::move(regions);
}

class Bounds {
 public:
  Bounds(const Scenario& scenario, const ModelGraph& graph, const CostCoefficients& coefficients)
      : graph_(graph),
        coefficients_(coefficients),
        again_(graph.operators.size(), 0),
        inside_(graph.operators.size(), 0),
        kept_(graph.tensors.size(), 0) {
    for (const CheckpointRegion& region : regions_in(scenario, graph)) {
      for (std::size_t i = region.begin.index(); i < region.end.index(); ++i) inside_[i] = 1;
      for (OperatorId id = region.begin; id < region.stop; ++id.value)
        again_[id.index()] = region.retains(id) ? 0 : 1;
      for (const OperatorId id : region.retained) retain(graph.op(id));
      // What the region begins with is kept, or nothing could be computed again; here or on the host.
      if (scenario.activation->offload == OffloadTarget::cpu) continue;
      for (const TensorId input : graph.op(region.begin).inputs) keep(input);
    }
  }

  GraphBounds sum() {
    for (std::size_t i = 0; i < graph_.operators.size(); ++i)
      add(graph_.operators[i], again_[i] != 0, inside_[i] != 0);
    bounds_.nanoseconds = std::max(device_ns_, host_ns_);
    return bounds_;
  }

 private:
  void add(const Operator& op, bool again, bool inside) {
    const OperatorDescription description = describe_operator(graph_, op);
    add_work(op, description.forward, Direction::forward, again ? 2 : 1);
    add_work(op, description.backward, Direction::backward, 1);
    if (inside || !description.has_backward) return;
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      if ((description.saved_inputs >> i & 1U) != 0) keep(op.inputs[i]);
    for (std::size_t i = 0; i < op.outputs.size(); ++i)
      if ((description.saved_outputs >> i & 1U) != 0) keep(op.outputs[i]);
    for (const ExtraTensor& extra : description.extras)
      bounds_.saved += bytes_of(element_count(extra.shape), extra.dtype);
  }

  void add_work(const Operator& op, const std::vector<Work>& works, Direction direction, int times) {
    const HostCoefficients& host = coefficients_.host;
    const double launch_ns = direction == Direction::backward ? host.backward_launch_ns : host.launch_ns;
    for (const Work& work : works) {
      device_ns_ += times * work_ns(graph_, op, work, direction, coefficients_);
      host_ns_ += times * work.kernels * launch_ns;
    }
  }

  // What a selective checkpoint does not run again keeps all that it made, whoever reads it.
  void retain(const Operator& op) {
    for (const TensorId output : op.outputs) keep(output);
    for (const ExtraTensor& extra : describe_operator(graph_, op).extras)
      bounds_.saved += bytes_of(element_count(extra.shape), extra.dtype);
  }

  void keep(TensorId id) {
    const Tensor& tensor = graph_.tensor(id);
    if (kept_[id.index()] != 0 || tensor.role != TensorRole::activation) return;
    kept_[id.index()] = 1;
    bounds_.saved += tensor.bytes();
  }

  const ModelGraph& graph_;
  const CostCoefficients& coefficients_;
  std::vector<char> again_, inside_;  // by operator
  std::vector<char> kept_;            // by tensor
  double device_ns_ = 0, host_ns_ = 0;
  GraphBounds bounds_;
};

}  // namespace

GraphBounds graph_bounds(const Scenario& scenario, const ModelGraph& graph,
                         const CostCoefficients& coefficients) {
  return Bounds(scenario, graph, coefficients).sum();
}

}  // namespace shardlab

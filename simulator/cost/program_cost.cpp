#include "simulator/cost/program_cost.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_list.h"
#include "engine/model/segment/program.h"

namespace shardlab {
namespace {

bool equal(const Work& a, const Work& b) {
  return a.kind == b.kind && a.m == b.m && a.n == b.n && a.k == b.k && a.flops == b.flops &&
         a.bytes == b.bytes && a.kernels == b.kernels && a.batch == b.batch && a.float8 == b.float8 &&
         a.masked == b.masked;
}

// The cost of one piece of work, computed or explained.
class WorkCost {
 public:
  WorkCost(const ModelGraph& graph, const Program& program, Direction direction,
           const CostCoefficients& coefficients)
      : graph_(graph), program_(program), direction_(direction), coefficients_(coefficients) {}

  double nanoseconds(const ProgramStep& step, std::uint32_t index) const {
    const Work& work = program_.work[index];
    switch (work.kind) {
      case WorkKind::matmul: return work.kernels * matmul_ns(shape_of(work), matmul(step, index));
      case WorkKind::attention: return attention_ns(attention_of(step, work), attention(step));
      case WorkKind::memory: return traffic_ns({work.bytes, work.kernels}, traffic(step));
    }
    return 0;
  }

  CostBreakdown explain(const ProgramStep& step, std::uint32_t index) const {
    const Work& work = program_.work[index];
    switch (work.kind) {
      case WorkKind::matmul: return explain_products(work, matmul(step, index));
      case WorkKind::attention: return explain_attention(attention_of(step, work), attention(step));
      case WorkKind::memory:
        return explain_traffic(operation_of(step), {work.bytes, work.kernels}, traffic(step));
    }
    return {};
  }

  double allocations_ns(const ProgramStep& step) const {
    return coefficients_.allocation_ns * static_cast<double>(step.allocates.size());
  }

  std::string operation_of(const ProgramStep& step) const {
    return std::string(step_operation(graph_, step));
  }

 private:
  // One of several kernels alike; of a batch of products the rows together, with the traffic of all.
  static MatmulShape shape_of(const Work& work) {
    return {work.m * work.batch, work.n, work.k, work.bytes / work.kernels};
  }

  static CostBreakdown explain_products(const Work& work, const MatmulCoefficients& coefficients) {
    CostBreakdown one = explain_matmul(shape_of(work), coefficients);
    if (work.kernels == 1) return one;
    one.nanoseconds *= work.kernels;
    one.formula = fmt::format("{} * ({})", work.kernels, one.formula);
    return one;
  }

  // Elements of the products are as wide as their least traffic says; which 16 bits, the operator says.
  DType dtype_of(const ProgramStep& step, const Work& work) const {
    const std::int64_t elements = work.m * work.k + work.k * work.n + work.m * work.n;
    if (work.bytes.value == elements * work.batch * work.kernels * 4) return DType::float32;
    return dtype_of(step) == DType::float16 ? DType::float16 : DType::bfloat16;
  }

  DType dtype_of(const ProgramStep& step) const {
    if (step.kind == StepKind::accumulate || step.kind == StepKind::copy)
      return program_.values[step.results[0]].dtype;
    const Operator& op = graph_.op(step.op);
    for (const TensorId input : op.inputs) {
      if (is_floating_point(graph_.tensor(input).dtype)) return graph_.tensor(input).dtype;
    }
    return graph_.tensor(op.outputs[0]).dtype;
  }

  // An operator's backward multiplies the gradient by its weight first, by its input last; a frozen weight
  // has the first only (model/operators/linear.cpp).
  const MatmulCoefficients& matmul(const ProgramStep& step, std::uint32_t index) const {
    MatmulUse use = MatmulUse::forward;
    if (direction_ == Direction::backward) {
      std::uint32_t last = index;
      for (std::uint32_t i = index + 1; i < step.work_end; ++i)
        last = program_.work[i].kind == WorkKind::matmul ? i : last;
      const bool of_weight = program_.work[index].of_weight || (last == index && trains_weight(step));
      use = of_weight ? MatmulUse::weight_gradient : MatmulUse::input_gradient;
    }
    const Work& work = program_.work[index];
    const auto& products = work.float8 ? coefficients_.float8 : coefficients_.of(dtype_of(step, work)).matmul;
    return products[static_cast<std::size_t>(use)];
  }

  bool trains_weight(const ProgramStep& step) const {
    const std::vector<ParameterId>& parameters = graph_.op(step.op).parameters;
    return !parameters.empty() && graph_.parameter(parameters.front()).requires_grad;
  }

  const AttentionCoefficients& attention(const ProgramStep& step) const {
    return coefficients_.of(dtype_of(step)).attention[static_cast<std::size_t>(direction_)];
  }

  AttentionWork attention_of(const ProgramStep& step, const Work& work) const {
    const Operator& op = graph_.op(step.op);
    const Shape& q = graph_.tensor(op.inputs[0]).shape;
    return {work.flops, q[1], op.attributes.get(attribute::k_head_dim),
            q[0] * op.attributes.get(attribute::k_heads), work.masked};
  }

  const TrafficCoefficients& traffic(const ProgramStep& step) const {
    // Gradients that meet are added like activations, and copied like buffers.
    if (step.kind == StepKind::accumulate)
      return coefficients_.traffic_of_operator(k_add.name, Direction::forward, dtype_of(step));
    if (step.kind == StepKind::copy)
      return coefficients_.traffic.empty() ? coefficients_.operators : coefficients_.traffic_of("copy");
    return coefficients_.traffic_of_operator(step_operation(graph_, step), direction_, dtype_of(step),
                                             is_compiled(step));
  }

  bool is_compiled(const ProgramStep& step) const {
    const bool of_operator = step.kind == StepKind::forward || step.kind == StepKind::backward;
    return of_operator && graph_.op(step.op).attributes.get_or(attribute::k_compiled, false);
  }

  const ModelGraph& graph_;
  const Program& program_;
  Direction direction_;
  const CostCoefficients& coefficients_;
};

}  // namespace

std::vector<StepCost> program_costs(const ModelGraph& graph, const Program& program, Direction direction,
                                    const CostCoefficients& coefficients) {
  const WorkCost cost(graph, program, direction, coefficients);
  std::vector<StepCost> costs;
  costs.reserve(program.steps.size());
  for (const ProgramStep& step : program.steps) {
    StepCost& sum = costs.emplace_back();
    sum.nanoseconds = cost.allocations_ns(step);
    for (std::uint32_t i = step.work_begin; i < step.work_end; ++i) {
      sum.nanoseconds += cost.nanoseconds(step, i);
      sum.kernels += program.work[i].kernels;
    }
  }
  return costs;
}

CostBreakdown explain_program(const ModelGraph& graph, const Program& program, Direction direction,
                              const CostCoefficients& coefficients) {
  const WorkCost cost(graph, program, direction, coefficients);
  CostBreakdown whole;
  whole.term = direction == Direction::forward ? "forward" : "backward";
  for (const ProgramStep& step : program.steps) {
    CostBreakdown part;
    part.term = cost.operation_of(step);
    part.nanoseconds = cost.allocations_ns(step);
    for (std::uint32_t i = step.work_begin; i < step.work_end; ++i) {
      part.nanoseconds += part.parts.emplace_back(cost.explain(step, i)).nanoseconds;
    }
    part.formula = fmt::format("{} pieces of work, {} allocations", part.parts.size(), step.allocates.size());
    whole.nanoseconds += part.nanoseconds;
    whole.parts.push_back(std::move(part));
  }
  whole.formula = fmt::format("{} steps", whole.parts.size());
  return whole;
}

bool same_work(const ModelGraph& graph, const Program& a, const Program& b) {
  const auto same_step = [&](const ProgramStep& x, const ProgramStep& y) {
    if (x.kind != y.kind || x.work_begin != y.work_begin || x.work_end != y.work_end) return false;
    if (x.allocates.size() != y.allocates.size()) return false;
    const bool of_operator = x.kind == StepKind::forward || x.kind == StepKind::backward;
    if (!of_operator) return true;
    const Operator &one = graph.op(x.op), &other = graph.op(y.op);
    return one.type == other.type && one.attributes.get_or(attribute::k_compiled, false) ==
                                         other.attributes.get_or(attribute::k_compiled, false);
  };
  return std::equal(a.work.begin(), a.work.end(), b.work.begin(), b.work.end(), equal) &&
         std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(), same_step);
}

}  // namespace shardlab

#include "simulator/search/estimate.h"

#include <algorithm>
#include <set>

#include "engine/hardware/device.h"
#include "engine/model/operators/operator_type.h"
#include "engine/planner/load_model.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/resolve_device.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

constexpr double k_smallest_element = 2;  // bytes of anything that is gathered or reduced
// Rounding of the simulation's single instructions to whole nanoseconds must not bring it below a bound.
constexpr double k_slack = 1 - 1e-6;

double flops_of(const ModelGraph& graph) {
  double sum = 0;
  for (const Operator& op : graph.operators) {
    const OperatorDescription description = describe_operator(graph, op);
    for (const auto* works : {&description.forward, &description.backward})
      for (const Work& work : *works) sum += static_cast<double>(work.model_flops.value);
  }
  return sum;
}

// The highest rate of products or attention in any of the dtypes that the scenario may compute in.
double highest_rate(const Scenario& scenario, const Device& device) {
  std::set<DType> dtypes = {scenario.model->dtype, scenario.precision->param.value_or(scenario.model->dtype)};
  if (!scenario.parallel->wrap.overrides.empty()) dtypes = {DType::float32, DType::bfloat16, DType::float16};
  double highest = 0;
  for (const DType dtype : dtypes)
    for (const DevicePeaks* rates : {&device.peaks, &device.gemm, &device.attention})
      if (const auto rate = rates->of(dtype)) highest = std::max(highest, rate->value);
  return highest;
}

// Of a device without units for a dtype the products run at another's rate: then no bound is known.
bool knows_rates(const Scenario& scenario, const Device& device) {
  const DType computed = scenario.precision->param.value_or(scenario.model->dtype);
  return device.gemm.of(computed).has_value() && device.gemm.of(scenario.model->dtype).has_value();
}

double seconds_on(const CollectiveCoefficients& link, double bytes) {
  return link.bandwidth.value > 0 ? bytes / link.bandwidth.value : 0;
}

// Every parameter is gathered and every gradient reduced once a step, or all-reduced where nothing is
// sharded. Of replicas of shards nothing is said.
double wire_seconds(const Scenario& scenario, const Device& device, double parameters, double trained) {
  const int ranks = world_size(scenario);
  const ResolvedMesh mesh = resolve_mesh(scenario);
  if (ranks < 2 || !scenario.parallel->wrap.ignored.empty()) return 0;
  const Links links = device.links_of(ranks, device.nodes);
  const double share = (ranks - 1.0) / ranks * k_smallest_element;
  if (mesh.shard == ranks)
    return seconds_on(links.all_gather, parameters * share) +
           seconds_on(links.reduce_scatter, trained * share);
  if (mesh.shard == 1) return seconds_on(links.all_reduce, 2 * trained * share);
  return 0;
}

int states_of(const TrainSpec& train) {
  if (train.optimizer == Optimizer::sgd) return train.momentum > 0 ? 1 : 0;
  return 2;
}

}  // namespace

Result<Estimate> estimate(const Scenario& scenario, bool calibrated) {
  SHARDLAB_TRY(const Device device, resolve_device(*scenario.cluster));
  SHARDLAB_TRY(const ModelGraph graph, with_form_of_model<ModelGraph>(scenario, load_model_graph));
  const TrainSpec& train = *scenario.train;
  const auto parameters = static_cast<double>(total_parameters(graph));
  const auto trained = static_cast<double>(trainable_parameters(graph));
  const ResolvedMesh mesh = resolve_mesh(scenario);
  Estimate bounds;
  bounds.tokens =
      graph.micro_batch * graph.sequence_length * train.accumulation * (world_size(scenario) / mesh.tensor);
  if (device.memory.value > 0) bounds.limit = device.memory;
  const double elements = parameters + trained * (1 + states_of(train));
  bounds.memory = Bytes{static_cast<std::int64_t>(elements / mesh.shard *
                                                  static_cast<double>(element_size(scenario.model->dtype)))};
  if (calibrated) return bounds;
  const double rate = highest_rate(scenario, device);
  const double compute = knows_rates(scenario, device) ? flops_of(graph) * train.accumulation / rate : 0;
  const double wires = wire_seconds(scenario, device, parameters, trained);
  bounds.step_ns = std::max(compute, wires) * 1e9 * k_slack;
  return bounds;
}

}  // namespace shardlab

#include "simulator/search/estimate.h"

#include <algorithm>

#include "engine/hardware/device.h"
#include "engine/planner/load_model.h"
#include "engine/scenario/distillation_spec.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/resolve_device.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/train_spec.h"
#include "simulator/search/graph_bounds.h"

namespace shardlab {
namespace {

constexpr double k_smallest_element = 2;  // bytes of anything that is gathered or reduced
// Rounding of the simulation's single instructions to whole nanoseconds must not bring it below a bound.
constexpr double k_slack = 1 - 1e-6;

// Units of other precision, and a loss that a teacher replaces, are not looked at.
bool is_plain(const Scenario& scenario) {
  return scenario.parallel->wrap.overrides.empty() && !scenario.distillation;
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

// Gradients of earlier micro-batches while the last one is computed: whole ones where only the last reduces.
double gradients_kept(const TrainSpec& train, double trained, double sharded) {
  if (train.accumulation == 1) return 0;
  return train.sync == GradientSync::last ? std::max(sharded, trained * k_smallest_element) : sharded;
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
  const double size = static_cast<double>(element_size(scenario.model->dtype)) / mesh.shard;
  const double states = (parameters + trained * states_of(train)) * size;
  // With gradients before the update, with what backward needs before it begins.
  double most = states + trained * size;
  const GraphBounds graph_takes = graph_bounds(scenario, graph, published_coefficients(device));
  const double kept = gradients_kept(train, trained, trained * size);
  if (is_plain(scenario)) most = std::max(most, states + kept + static_cast<double>(graph_takes.saved.value));
  bounds.memory = Bytes{static_cast<std::int64_t>(most)};
  if (calibrated) return bounds;
  const double compute = is_plain(scenario) ? graph_takes.nanoseconds / 1e9 * train.accumulation : 0;
  const double wires = wire_seconds(scenario, device, parameters, trained);
  bounds.step_ns = std::max(compute, wires) * 1e9 * k_slack;
  return bounds;
}

}  // namespace shardlab

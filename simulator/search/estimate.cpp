#include "simulator/search/estimate.h"

#include <algorithm>
#include <optional>

#include "engine/hardware/device.h"
#include "engine/planner/load_model.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/resolve_device.h"
#include "engine/scenario/setting_view.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/train_spec.h"
#include "engine/scenario/zero_options.h"
#include "simulator/cost/coefficients.h"
#include "simulator/network/transfer_time.h"
#include "simulator/search/graph_bounds.h"

namespace shardlab {
namespace {

constexpr double k_smallest_element = 2;  // bytes of anything that is gathered or reduced
// Rounding of the simulation's single instructions to whole nanoseconds must not bring it below a bound.
constexpr double k_slack = 1 - 1e-6;

// Whether a list of the scenario has no element; where a word stands for its section it has none.
bool is_empty_list(const Scenario& scenario, const std::string& key) {
  const std::string value = view_setting(scenario, ScenarioSource(), key).value;
  return !value.starts_with('[') || value.starts_with("[]");
}

// What a calibration measured of all ranks' collectives; nothing where it did not.
std::optional<double> measured_seconds(const CostCoefficients& coefficients, InstructionKind kind,
                                       int ranks) {
  const auto found = coefficients.collectives.find(kind);
  if (found == coefficients.collectives.end()) return std::nullopt;
  const CollectiveTerms& terms = found->second;
  if (terms.latency_ns < 0 || terms.ns_per_root_byte < 0 || terms.bandwidth.value <= 0) return 0;
  return k_smallest_element * bus_factor(kind, ranks) / terms.bandwidth.value *
         terms.measured.least_correction();
}

// The least that all ranks take for one element of what they gather or reduce; 0 where wires are supposed in
// place of those that were measured.
double seconds_of_element(const Device& device, const CostCoefficients& coefficients,
                          InstructionKind instruction) {
  if (const auto measured = measured_seconds(coefficients, instruction, device.ranks))
    return has_supposed_wires(device) ? 0 : *measured;
  const CollectiveKind kind = collective_kind(instruction);
  if (!device.wires.shared)
    return GroupNetwork(device, shape_of_all(device)).least_ns_per_byte(kind) * 1e-9 * k_smallest_element;
  const Links& links = *device.wires.shared;
  const CollectiveCoefficients& link = kind == CollectiveKind::all_gather       ? links.all_gather
                                       : kind == CollectiveKind::reduce_scatter ? links.reduce_scatter
                                                                                : links.all_reduce;
  return link.bandwidth.value > 0 ? k_smallest_element * bus_factor(kind, device.ranks) / link.bandwidth.value
                                  : 0;
}

// Tensors of the parameter's dtype; what is smaller is left out of the bound.
int states_of(const TrainSpec& train) {
  if (train.optimizer == Optimizer::adamw_8bit || train.optimizer_paged) return 0;
  if (train.optimizer == Optimizer::sgd) return train.momentum > 0 ? 1 : 0;
  return 2;
}

// Gradients of earlier micro-batches while the last one is computed.
double gradients_kept(const ModelFacts& model, const MeshFacts& mesh, double sharded,
                      std::int64_t accumulation) {
  if (accumulation == 1) return 0;
  const bool whole = model.reduces_last && !mesh.reduces_every;
  return whole ? std::max(sharded, model.trained * k_smallest_element) : sharded;
}

}  // namespace

Result<ModelFacts> model_facts(const Scenario& scenario, const Device& device,
                               const Calibration* calibration) {
  SHARDLAB_TRY(const ModelGraph graph, with_form_of_model<ModelGraph>(scenario, load_model_graph));
  ModelFacts facts;
  facts.parameters = static_cast<double>(stored_elements(graph));
  facts.trained = static_cast<double>(trainable_parameters(graph));
  facts.element = static_cast<double>(element_size(scenario.model->dtype));
  const DType param = scenario.precision->param.value_or(scenario.model->dtype);
  facts.cast_element = std::min(facts.element, static_cast<double>(element_size(param)));
  facts.states = states_of(*scenario.train);
  facts.keeps_gradients = !scenario.train->optimizer_in_backward;
  facts.tokens = graph.micro_batch * graph.sequence_length;
  facts.offloads = scenario.offload->parameters != OffloadTarget::none ||
                   scenario.offload->optimizer != OffloadTarget::none;
  facts.reduces_last = scenario.train->sync == GradientSync::last;
  if (scenario.distillation) return facts;  // a teacher replaces the loss
  const GraphBounds bounds =
      graph_bounds(scenario, graph, prediction_coefficients(scenario, device, calibration));
  facts.nanoseconds = bounds.nanoseconds;
  facts.saved = static_cast<double>(bounds.saved.value);
  return facts;
}

// Every parameter is gathered and every gradient reduced once a step, or all-reduced where nothing is
// sharded. Of replicas of shards nothing is said. A strategy without units gathers what it updated, and one
// that keeps small parameters whole gathers no frozen ones of these.
MeshFacts mesh_facts(const Scenario& scenario, const Device& device, const Calibration* calibration) {
  const ResolvedMesh mesh = resolve_mesh(scenario);
  MeshFacts facts;
  facts.ranks = world_size(scenario);
  facts.shard = mesh.shard;
  facts.tensor = mesh.tensor;
  facts.reduces_every = facts_of(scenario).reduces_every_micro_batch;
  facts.gathers_frozen = facts_of(scenario).gathers_units;
  facts.casts_frozen = facts_of(scenario).framework == Framework::deepspeed;
  facts.one_precision = is_empty_list(scenario, "parallel.wrap.overrides");
  if (device.memory.value > 0) facts.limit = device.memory;
  if (facts.ranks < 2 || !is_empty_list(scenario, "parallel.wrap.ignored")) return facts;
  const CostCoefficients coefficients = prediction_coefficients(scenario, device, calibration);
  if (mesh.shard == facts.ranks) {
    facts.gather_seconds = seconds_of_element(device, coefficients, InstructionKind::AllGather);
    facts.reduce_seconds = seconds_of_element(device, coefficients, InstructionKind::ReduceScatter);
    const ZeroOptions zero = zero_options(scenario);
    if (zero.quantized_weights) facts.gather_seconds /= k_smallest_element;  // in one byte
    if (zero.quantized_gradients) facts.reduce_seconds = 0;                  // by another way between nodes
  } else if (mesh.shard == 1) {
    facts.reduce_seconds = seconds_of_element(device, coefficients, InstructionKind::AllReduce);
  }
  return facts;
}

Estimate estimate(const ModelFacts& model, const MeshFacts& mesh, std::int64_t accumulation) {
  Estimate bounds;
  bounds.tokens = saturated_product(model.tokens, accumulation, mesh.ranks / mesh.tensor);
  const double share = model.offloads ? 0 : 1.0 / mesh.shard;
  const double size = model.element * share;
  const double frozen = (mesh.casts_frozen ? model.cast_element : model.element) * share;
  const double states =
      model.trained * (1 + model.states) * size + (model.parameters - model.trained) * frozen;
  const double gradients = model.keeps_gradients ? model.trained * size : 0;
  // With gradients before the update, with what backward needs before it begins.
  const double needed = mesh.one_precision ? model.saved : 0;
  const double most =
      states + std::max(gradients, gradients_kept(model, mesh, gradients, accumulation) + needed);
  bounds.memory = Bytes{static_cast<std::int64_t>(most)};
  const double compute = mesh.one_precision ? model.nanoseconds * static_cast<double>(accumulation) : 0;
  const double gathered = mesh.gathers_frozen ? model.parameters : model.trained;
  const double wires = (mesh.gather_seconds * gathered + mesh.reduce_seconds * model.trained) * 1e9;
  bounds.step_ns = std::max(compute, wires) * k_slack;
  return bounds;
}

}  // namespace shardlab

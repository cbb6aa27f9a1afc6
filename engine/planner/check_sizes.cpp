#include "engine/planner/check_sizes.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "engine/model/operators/operator_type.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

// The bytes that a rank may hold, 4 PiB: those of all ranks of a node, of which there are 1,024 at most, are
// counted too.
constexpr double k_most_held = 0x1p52;
// The FLOPs of a rank's step: PaLM's count of them may be two and a half times this one.
constexpr double k_most_flops = 3e18;
// The tokens of all ranks' step, and the bytes of all collectives that a rank takes part in.
constexpr double k_most_tokens = 0x1p62;
constexpr double k_most_moved = 0x1p62;

// Sizes as a graph says them, without asking its operators.
struct GraphSizes {
  double tokens = 0;    // of a micro-batch
  double longest = 0;   // extent of a tensor or parameter, or the tokens
  double held = 0;      // bytes: activations with their gradients, parameters with all that belongs to them
  double named = 0;     // elements of what operators read and write, each time one does
  double attended = 0;  // those that attention does
  double padded = 0;    // bytes of parameters when each has a row more for every rank
};

double elements_in(const Shape& shape) {
  double elements = 1;
  for (const std::int64_t extent : shape) elements *= static_cast<double>(extent);
  return elements;
}

double longest_of(const Shape& shape) {
  return shape.empty() ? 1 : static_cast<double>(*std::max_element(shape.begin(), shape.end()));
}

void add_operator(const ModelGraph& graph, const Operator& op, GraphSizes& sizes) {
  double named = 0;
  for (const auto* tensors : {&op.inputs, &op.outputs})
    for (const TensorId tensor : *tensors) named += elements_in(graph.tensor(tensor).shape);
  if (op.type->category == OperatorCategory::attention) sizes.attended += named;
  for (const ParameterId parameter : op.parameters) named += elements_in(graph.parameter(parameter).shape);
  sizes.named += named;
}

GraphSizes sizes_of(const ModelGraph& graph, double ranks) {
  constexpr double k_widest_element = 8;  // bytes, of any dtype
  constexpr double k_copies = 8;          // of a parameter in float32: itself, gathered, gradients, states
  GraphSizes sizes;
  sizes.tokens = static_cast<double>(graph.micro_batch) * static_cast<double>(graph.sequence_length);
  sizes.longest = sizes.tokens;
  for (const Tensor& tensor : graph.tensors) {
    sizes.held += 2 * k_widest_element * elements_in(tensor.shape);
    sizes.longest = std::max(sizes.longest, longest_of(tensor.shape));
  }
  for (const Parameter& parameter : graph.parameters) {
    const double elements = elements_in(parameter.shape);
    const double rows = parameter.shape.empty() ? 1 : static_cast<double>(parameter.shape.front());
    sizes.held += k_copies * 4 * elements;
    sizes.padded += 4 * elements / rows * (rows + ranks);
    sizes.longest = std::max(sizes.longest, longest_of(parameter.shape));
  }
  for (const Operator& op : graph.operators) add_operator(graph, op, sizes);
  return sizes;
}

// Whether operators could compute or hold too much: none has more products than 8 over its tensors and one
// more extent, scores of attention are elements of its queries by a sequence, and steps of eager operators
// have a handful of tensors at once.
bool may_be_too_large(const GraphSizes& sizes, double sequence, double micro_batches) {
  const double beside =
      128 * sizes.named + 64 * sizes.attended * sequence + 16 * sizes.tokens * sizes.longest;
  return 16 * sizes.named * sizes.longest * micro_batches > k_most_flops || sizes.held + beside > k_most_held;
}

// What operators say that a micro-batch computes, and holds beside the tensors of the graph.
struct DescribedSizes {
  double flops = 0, held = 0;
};

DescribedSizes described_sizes(const ModelGraph& graph, double tokens) {
  DescribedSizes sizes;
  for (const Operator& op : graph.operators) {
    const OperatorDescription description = describe_operator(graph, op);
    for (const auto* works : {&description.forward, &description.backward})
      for (const Work& work : *works) sizes.flops += static_cast<double>(work.flops.value);
    for (const ExtraTensor& extra : description.extras)
      sizes.held += elements_in(extra.shape) * static_cast<double>(element_size(extra.dtype));
    for (const Bytes bytes : {description.forward_temporaries, description.backward_temporaries,
                              description.backward_temporaries_before, description.forward_workspace,
                              description.backward_workspace})
      sizes.held += static_cast<double>(bytes.value);
  }
  // A table of positions is counted by PaLM's convention, though nothing is multiplied with it.
  sizes.flops = std::max(sizes.flops, 6 * static_cast<double>(active_parameters(graph)) * tokens);
  return sizes;
}

// The batch's largest setting is named: it is the one that somebody mistyped, or made large on purpose.
tl::unexpected<Error> too_large(const Scenario& scenario, std::string_view what, double number,
                                std::string_view unit, double most) {
  const std::array<std::pair<const char*, std::int64_t>, 3> settings = {
      {{"model.sequence_length", scenario.model->sequence_length},
       {"train.micro_batch", scenario.train->micro_batch},
       {"train.accumulation", scenario.train->accumulation}}};
  const auto largest = std::max_element(settings.begin(), settings.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  std::string hint = "lower ";
  for (const auto& [key, value] : settings) hint += fmt::format("{} ({}), ", key, value);
  return bad_input(largest->first,
                   fmt::format("{} {:.2g} {}: more than {:.2g} are not counted", what, number, unit, most),
                   hint + "or the sizes of the model");
}

}  // namespace

Status check_sizes(const Scenario& scenario, const ModelGraph& graph) {
  const int ranks = world_size(scenario), micro_batches = micro_batches_of_step(scenario);
  const GraphSizes sizes = sizes_of(graph, ranks);
  if (sizes.held > k_most_held)
    return too_large(scenario, "a rank's tensors take", sizes.held, "bytes", k_most_held);
  const double tokens = sizes.tokens * micro_batches * ranks;
  if (tokens > k_most_tokens)
    return too_large(scenario, "a step of all ranks has", tokens, "tokens", k_most_tokens);
  const double moved = 4 * sizes.padded * micro_batches;
  if (moved > k_most_moved)
    return bad_input(
        "cluster.nodes",
        fmt::format("{} ranks and {} micro-batches gather and reduce {:.2g} bytes in a step: more "
                    "than {:.2g} are not counted",
                    ranks, micro_batches, moved, k_most_moved),
        "fewer nodes, or lower train.accumulation");
  if (!may_be_too_large(sizes, static_cast<double>(graph.sequence_length), micro_batches)) return {};
  const DescribedSizes described = described_sizes(graph, sizes.tokens);
  if (sizes.held + described.held > k_most_held)
    return too_large(scenario, "a rank's tensors take", sizes.held + described.held, "bytes", k_most_held);
  const double flops = described.flops * micro_batches;
  if (flops > k_most_flops)
    return too_large(scenario, "a rank's step computes", flops, "FLOPs", k_most_flops);
  return {};
}

}  // namespace shardlab

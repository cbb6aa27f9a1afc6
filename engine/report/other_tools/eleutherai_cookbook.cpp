// EleutherAI's calc_transformer_mem: parameters by shape, ZeRO's sharding, DeepSpeed's buffers, activations
// by the ZeRO paper (Rajbhandari et al. 2020, table 2).
//
// Source: EleutherAI/cookbook, calc/calc_transformer_mem.py, calc_mem. Its arguments are what the model has:
// the ratio of key-value heads, the matrices of a feed-forward network and its width; DeepSpeed's buffers
// keep their defaults (5e8 and 1e9 elements). Checkpointing leaves out the attention scores and nothing else.
#include <fmt/format.h>

#include <cmath>

#include "engine/report/other_tools/other_tools.h"

namespace shardlab {
namespace {

constexpr double k_optimizer_bytes = 12, k_gradient_bytes = 4;
constexpr double k_gather_bucket = 5e8, k_live_parameters = 1e9;

double parameters_by_shape(const ToolQuestion& q) {
  const ModelDimensions& m = q.model;
  const double h = static_cast<double>(m.hidden), layers = static_cast<double>(m.layers);
  const double ratio = static_cast<double>(m.kv_heads) / static_cast<double>(m.heads);
  const double wide = static_cast<double>(m.feed_forward) / h;
  const double embedding = 2.0 * static_cast<double>(m.vocabulary) * h;
  const double positions = h * static_cast<double>(q.sequence_length);
  const double norms = 8 * h * layers + 2 * h;
  const double attention = std::floor(2 * (1 + ratio) * layers * h * h);
  return embedding + positions + norms + attention + m.feed_forward_matrices * layers * h * wide * h;
}

double activations(const ToolQuestion& q, double low) {
  const ModelDimensions& m = q.model;
  const double h = static_cast<double>(m.hidden), s = static_cast<double>(q.sequence_length);
  double of_element = 16 * low + 2;
  if (!q.recomputes) of_element += (2 * low + 1) * (static_cast<double>(m.heads) * s / h);
  return s * static_cast<double>(q.micro_batch) * h * static_cast<double>(m.layers) * of_element;
}

}  // namespace

ToolAnswer ask_cookbook(const ToolQuestion& q) {
  ToolAnswer answer{"EleutherAI calc_transformer_mem",
                    {},
                    "the widths of this model's layers are not of the kind that it asks for",
                    "EleutherAI/cookbook calc/calc_transformer_mem.py"};
  if (q.model.has_experts || q.model.heads == 0 || q.model.hidden == 0 || q.model.feed_forward == 0)
    return answer;
  if (q.stage > 0 && q.shards != q.ranks) {
    answer.formula = fmt::format("shards over all ranks, this over {} of {}", q.shards, q.ranks);
    return answer;
  }
  const double low = static_cast<double>(element_size(q.compute));
  const double parameters = parameters_by_shape(q), shards = q.shards;
  const double weights = parameters * low / (q.stage == 3 ? shards : 1);
  const double gradients = parameters * k_gradient_bytes / (q.stage >= 2 ? shards : 1);
  const double optimizer = parameters * k_optimizer_bytes / (q.stage >= 1 ? shards : 1);
  double buffers = 0;
  if (q.stage >= 1 && q.shards > 1) buffers += k_gather_bucket * low;
  if (q.stage == 3 && q.shards > 1) buffers += k_live_parameters * low;
  const double kept = activations(q, low);
  const auto words = [](double bytes) { return to_string(Bytes{std::llround(bytes)}); };
  answer.bytes = Bytes{std::llround(weights + gradients + optimizer + buffers + kept)};
  answer.formula =
      fmt::format("weights {} + gradients {} + optimizer {} + DeepSpeed's buffers {} + activations {}",
                  words(weights), words(gradients), words(optimizer), words(buffers), words(kept));
  return answer;
}

}  // namespace shardlab

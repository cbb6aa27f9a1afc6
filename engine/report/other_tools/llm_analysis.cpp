// llm-analysis: weights, optimizer, activations by Korthikanti et al. 2022 with flash attention, and the
// larger of gathered weights and the loss's backward.
//
// Source: cli99/llm-analysis at d841e40, llm_analysis/analysis.py, training() with its defaults (weights,
// activations and embeddings of 16 bits, norms' activations of 32, Adam, dropout of attention): what it takes
// off the memory of a GPU. Gradients are no part of that, and head and embedding count once. Three matrices a
// network where it is 3.5 times as wide as the model (config.py), else two.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/report/other_tools/other_tools.h"

namespace shardlab {
namespace {

constexpr double k_weight_bytes = 2, k_states_bytes = 12, k_activation_bytes = 2, k_norm_bytes = 4;

struct Widths {
  explicit Widths(const ToolQuestion& q)
      : hidden(static_cast<double>(q.model.hidden)),
        layers(static_cast<double>(q.model.layers)),
        heads(static_cast<double>(q.model.heads)),
        kv_heads(static_cast<double>(q.model.kv_heads)),
        vocabulary(static_cast<double>(q.model.vocabulary)),
        expansion(static_cast<double>(q.model.feed_forward) / static_cast<double>(q.model.hidden)),
        tokens(static_cast<double>(q.micro_batch * q.sequence_length)) {}

  double embedding() const { return vocabulary * hidden; }
  double layer() const {
    const double attention = 2 * hidden * hidden + 2 * hidden * hidden * kv_heads / heads;
    return attention + (expansion == 3.5 ? 3 : 2) * hidden * hidden * expansion + 2 * hidden;
  }
  double parameters() const { return layers * layer() + embedding() + hidden; }

  double hidden, layers, heads, kv_heads, vocabulary, expansion, tokens;
};

double activations_of_layer(const Widths& w, bool recomputes) {
  const double state = w.tokens * w.hidden;
  if (recomputes) return state * k_activation_bytes;
  const double flash = (2 * state + 4 * w.heads * w.tokens) * k_activation_bytes;
  const double attention = 5 * state * k_activation_bytes + flash + state;
  const double network = (1 + 2 * w.expansion) * state * k_activation_bytes;
  return attention + network + 2 * state * k_norm_bytes;
}

double activations(const Widths& w, bool recomputes) {
  const double ends = w.tokens * (w.hidden + w.vocabulary) * k_activation_bytes;
  return w.layers * activations_of_layer(w, recomputes) + ends + w.tokens * w.hidden * k_norm_bytes;
}

}  // namespace

ToolAnswer ask_llm_analysis(const ToolQuestion& q) {
  ToolAnswer answer{"llm-analysis", {}, "", "cli99/llm-analysis llm_analysis/analysis.py"};
  if (element_size(q.compute) != 2) {
    answer.formula = "computes in 16 bits or fewer";
    return answer;
  }
  if (q.model.has_experts || q.model.heads == 0 || q.model.hidden == 0 || q.model.feed_forward == 0) {
    answer.formula = "the widths of this model's layers are not of the kind that it asks for";
    return answer;
  }
  const Widths w(q);
  const double shards = q.shards;
  const double weights = k_weight_bytes * w.parameters() / (q.stage == 3 ? shards : 1);
  const double optimizer = k_states_bytes * w.parameters() / (q.stage >= 1 ? shards : 1);
  const double kept = activations(w, q.recomputes);
  const double gathered = k_weight_bytes * std::max(w.embedding() + w.layer(), 2 * w.layer());
  const double logits = w.tokens * w.vocabulary * k_activation_bytes;
  const auto words = [](double bytes) { return to_string(Bytes{std::llround(bytes)}); };
  answer.bytes = Bytes{std::llround(weights + optimizer + kept + std::max(gathered, logits))};
  answer.formula = fmt::format("weights {} + optimizer {} + activations {} + {} {}; no gradients",
                               words(weights), words(optimizer), words(kept),
                               gathered >= logits ? "gathered weights" : "the loss's backward",
                               words(std::max(gathered, logits)));
  return answer;
}

}  // namespace shardlab

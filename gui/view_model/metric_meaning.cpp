#include "gui/view_model/metric_meaning.h"

namespace shardlab::view {
namespace {

struct Definition {
  std::string_view metric;  // one that ends with a dot is that of all names that begin with it
  Meaning meaning;
};

const std::vector<Definition>& definitions() {
  static const std::string k_glossary = "docs/glossary.md";
  static const std::vector<Definition> k_definitions = {
      {"step_time",
       {"from the first instruction issued by any rank to the end of the last one on any rank; the median of "
        "the steady steps",
        k_glossary,
        {"train.micro_batch", "train.accumulation", "model.sequence_length", "cluster",
         "parallel.strategy"}}},
      {"exposed_communication",
       {"time in which the compute stream is idle and waits, directly or through other instructions, for "
        "communication; the mean over ranks, the median over steps",
        k_glossary,
        {"parallel.prefetch", "parallel.wrap", "parallel.mesh", "train.micro_batch"}}},
      {"tokens_per_second",
       {"tokens whose loss is computed, of all ranks and micro-batches, divided by the step time",
        k_glossary,
        {"train.micro_batch", "train.accumulation", "model.sequence_length", "cluster"}}},
      {"tokens_per_second_per_gpu",
       {"tokens per second of all ranks, divided by the number of ranks",
        k_glossary,
        {"train.micro_batch", "model.sequence_length", "cluster"}}},
      {"mfu",
       {"model FLOPs per second divided by the device's dense peak for the compute dtype; recomputation and "
        "embeddings do not count",
        k_glossary,
        {"precision.param", "train.micro_batch", "model.sequence_length"}}},
      {"peak_allocated",
       {"the highest sum of the bytes of live tensors within a step, on the rank and in the step where it is "
        "highest",
        k_glossary,
        {"train.micro_batch", "model.sequence_length", "parallel.strategy", "parallel.reshard_after_forward",
         "activation.checkpoint"}}},
      {"peak.",
       {"what of the peak belongs to this class of buffer",
        k_glossary,
        {"parallel.strategy", "precision", "train.micro_batch"}}},
      {"communication.",
       {"payload of one rank in one step: the full side of each collective of this kind, added up",
        k_glossary,
        {"parallel.strategy", "parallel.mesh", "precision.param", "precision.reduce", "train.accumulation"}}},
      {"loss",
       {"mean over the tokens of the last step, over all ranks",
        k_glossary,
        {"train.learning_rate", "train.seed"}}}};
  return k_definitions;
}

}  // namespace

const Meaning* metric_meaning(std::string_view metric) {
  for (const Definition& each : definitions()) {
    if (each.metric == metric || (each.metric.ends_with('.') && metric.starts_with(each.metric)))
      return &each.meaning;
  }
  return nullptr;
}

}  // namespace shardlab::view

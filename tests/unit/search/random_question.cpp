#include "tests/unit/search/random_question.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace shardlab::test {
namespace {

template <typename T>
std::string some_of(const std::vector<T>& all, Numbers& numbers, std::size_t least = 1) {
  std::vector<T> chosen;
  for (const T& each : all)
    if (numbers.below(2) == 0) chosen.push_back(each);
  for (std::size_t i = 0; chosen.size() < least; ++i)
    if (std::find(chosen.begin(), chosen.end(), all[i]) == chosen.end()) chosen.push_back(all[i]);
  return fmt::format("[{}]", fmt::join(chosen, ", "));
}

struct Model {
  std::string name, text;
  std::string limits;  // of memory, between what a rank needs of it
};

// Parameters and gradients of a wide model weigh as much as activations and libraries.
std::vector<Model> models() {
  const std::string llama = fmt::format("config: {}", data_file("families/llama.json").string());
  const std::string wide = "overrides: {hidden_size: 2048, intermediate_size: 5632, vocab_size: 32000}";
  return {{"small", "config: gpt2, overrides: {n_layer: 2, n_embd: 64, n_head: 2, vocab_size: 512}",
           "[1200MiB, 2GiB]"},
          {"wide", "config: gpt2, overrides: {n_layer: 1, n_embd: 4096, n_head: 32, vocab_size: 50257}",
           "[4GiB, 6GiB]"},
          {"adapters", llama + ", " + wide + ", lora: {rank: 8, targets: [all-linear]}", "[1500MiB, 2GiB]"},
          {"four_bits",
           llama + ", " + wide +
               ", dtype: bfloat16, quantized: nf4_double, lora: {rank: 8, targets: [all-linear]}",
           "[1200MiB, 1500MiB]"},
          {"frozen", llama + ", " + wide + ", frozen: [model.embed_tokens, 'model.layers.0.**']",
           "[2GiB, 3GiB]"}};
}

const std::vector<std::string>& strategies() {
  static const std::vector<std::string> every = {
      "{strategy: ddp}",
      "{strategy: fsdp2}",
      "{strategy: fsdp1}",
      "{strategy: native}",
      "{strategy: none}",
      "{strategy: fsdp1, sharding: shard_grad_op}",
      "{strategy: fsdp2, reshard_after_forward: false}",
      "{strategy: fsdp2, reshard_after_backward: false}",
      "{strategy: zero0}",
      "{strategy: zero1}",
      "{strategy: zero3}",
      "{strategy: zero2, zero: {reduce_bucket_size: 20000}}",
      "{strategy: zero3, zero: {stage3_param_persistence_threshold: 0}}",
      "{strategy: fsdp2, mesh: {replicate: 2}}",
      "{strategy: fsdp2, mesh: {replicate: 4}, requires_all_reduce: false}",
      "{strategy: fsdp1, sharding: hybrid_shard, mesh: {replicate: 2}}",
      "{strategy: fsdp1, sharding: hybrid_shard_zero2, mesh: {replicate: 2}}"};
  return every;
}

}  // namespace

void write_random_scenarios(const SearchFolder& folder) {
  for (const Model& model : models())
    folder.write(model.name + ".yaml",
                 fmt::format("model: {{{}, sequence_length: 64}}\ncluster: {{node: hgx-h100, nodes: 1}}\n"
                             "parallel: {{strategy: fsdp2}}\ntrain: {{micro_batch: 2, accumulation: 2}}\n",
                             model.text));
}

std::string random_question(Numbers& numbers) {
  const std::vector<Model> every = models();
  const Model& model = every[numbers.below(every.size())];
  std::string text = fmt::format("scenario: {}.yaml\nkeep: {{global_batch: {}}}\n", model.name,
                                 numbers.below(3) == 0 ? 96 : 64);
  const bool priced = numbers.below(3) > 0;
  text += "offers:\n";
  for (const char* node : {"hgx-h100", "dgx-a100"}) {
    if (node[0] == 'd' && numbers.below(2) == 0) continue;
    text += fmt::format(
        "- {{node: {}, nodes: {}{}}}\n", node, some_of(std::vector<int>{1, 2, 4}, numbers),
        priced ? fmt::format(", price: {}, date: '2026-01-01', source: a test", 2 + numbers.below(9)) : "");
  }
  text += fmt::format("train: {{tokens: {}M}}\n", 1 + numbers.below(50));
  text += "vary:\n  train.micro_batch: " + some_of(std::vector<int>{1, 2, 3, 4, 8}, numbers) + "\n";
  text += "  parallel: " + some_of(strategies(), numbers, 2) + "\n";
  const auto maybe = [&](std::size_t of, const std::string& knob) {
    if (numbers.below(of) == 0) text += "  " + knob + "\n";
  };
  maybe(2, numbers.below(2) == 0 ? "activation.checkpoint: [none, full]"
                                 : "activation: [{}, {checkpoint: full}, {checkpoint: full, offload: cpu},\n"
                                   "    {checkpoint: selective, operators: [linear]}]");
  maybe(2, "cluster.memory_limit: " + model.limits);
  maybe(2, "train.sync: [last, every]");
  maybe(3, "train.optimizer: [adamw, sgd]");
  maybe(3, "model.loss: [{kind: plain}, {kind: chunked, chunks: 4}]");
  maybe(4, "model.implementation: [eager, fused]");
  maybe(4, "model.dtype: [float32, bfloat16]");
  maybe(4, "precision: [{}, {param: bfloat16}]");
  maybe(4, "offload: [{}, {parameters: cpu}]");
  maybe(4, "offload.optimizer: [none, cpu]");
  std::vector<std::string> needs;
  if (numbers.below(3) == 0) needs.push_back(fmt::format("gpus: {}", 4 << numbers.below(4)));
  if (numbers.below(3) == 0) needs.push_back(fmt::format("hours: {}", 0.002 + numbers.fraction() * 0.2));
  if (priced && numbers.below(3) == 0)
    needs.push_back(fmt::format("dollars: {}", 0.005 + numbers.fraction()));
  if (!needs.empty()) text += fmt::format("need: {{{}}}\n", fmt::join(needs, ", "));
  return text;
}

}  // namespace shardlab::test

// The scenario that training tests vary: a Llama small enough to train many times, on real text.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace shardlab::test {

// Row counts 257, 170 and 30 that neither 2 nor 4 ranks divide, more query than key-value heads, 8 sequences
// a step.
inline const std::string k_small_model = R"(
name: small
model:
  config: tiny-llama
  sequence_length: 32
  overrides: {hidden_size: 60, intermediate_size: 170, num_hidden_layers: 3, num_attention_heads: 6,
              num_key_value_heads: 3, vocab_size: 257}
cluster: {device: cpu, ranks: 1, threads_per_rank: 1}
parallel: {strategy: none}
train: {micro_batch: 8, learning_rate: 1e-3, data: assets/data/licenses.txt}
measure: {warmup_steps: 0, steps: 5}
)";

// One way to spread the 8 sequences of a step.
struct Spread {
  std::string strategy;
  int ranks = 1;
  int accumulation = 1;
  std::string setting{};  // fsdp1: sharding; fsdp2: reshard_after_forward
  std::string sync = "last";
  std::vector<std::string> more = {};  // overrides

  std::string name() const {
    std::string text =
        strategy + (setting.empty() ? "" : " " + setting) + ", " + std::to_string(ranks) + " ranks";
    if (accumulation > 1) text += ", " + std::to_string(accumulation) + " micro-batches, sync " + sync;
    for (const std::string& set : more) text += ", " + set.substr(set.find('.') + 1);
    return text;
  }

  // DeepSpeed's own bucket takes 2 GB of every rank; one that holds this whole model is filled and reduced
  // alike.
  bool has_large_buckets() const {
    return strategy.starts_with("zero") && strategy != "zero0" &&
           std::none_of(more.begin(), more.end(), [](const std::string& set) {
             return set.find("reduce_bucket_size") != std::string::npos;
           });
  }

  // DeepSpeed reduces in the dtype of the parameters.
  std::vector<std::string> bfloat16() const {
    if (strategy.starts_with("zero")) return {"precision.param=bfloat16"};
    return {"precision.param=bfloat16", "precision.reduce=float32"};
  }

  // The global batch of all spreads is 8 sequences, or their gradients would differ. Throws
  // std::invalid_argument where it does not divide.
  std::vector<std::string> overrides() const {
    if (8 % (ranks * accumulation) != 0) throw std::invalid_argument(name() + ": 8 sequences do not divide");
    return overrides_with(8 / ranks / accumulation);
  }

  // With the micro-batch of each rank given, for plans that are not compared by their gradients.
  std::vector<std::string> overrides_with(int micro_batch) const {
    std::vector<std::string> all{"parallel.strategy=" + strategy, "cluster.ranks=" + std::to_string(ranks),
                                 "train.accumulation=" + std::to_string(accumulation), "train.sync=" + sync,
                                 "train.micro_batch=" + std::to_string(micro_batch)};
    if (strategy == "fsdp1") all.push_back("parallel.sharding=" + setting);
    if (strategy == "fsdp2" || strategy == "native")
      all.push_back("parallel.reshard_after_forward=" + setting);
    if (setting.starts_with("hybrid"))
      all.insert(all.end(),
                 {"parallel.mesh.replicate=2", "parallel.mesh.shard=" + std::to_string(ranks / 2)});
    all.insert(all.end(), more.begin(), more.end());
    if (has_large_buckets()) all.push_back("parallel.zero.reduce_bucket_size=1000000");
    return all;
  }
};

// Sharded ways: ddp, fsdp1 by sharding, fsdp2 with and without resharding; 2 and 4 ranks, 1 and 2
// micro-batches.
inline std::vector<Spread> all_spreads() {
  std::vector<Spread> spreads;
  for (const int ranks : {2, 4}) {
    for (const int accumulation : {1, 2}) {
      spreads.push_back({"ddp", ranks, accumulation, ""});
      spreads.push_back({"fsdp1", ranks, accumulation, "full_shard"});
      spreads.push_back({"fsdp1", ranks, accumulation, accumulation == 1 ? "shard_grad_op" : "no_shard"});
      spreads.push_back({"fsdp2", ranks, accumulation, "true"});
      spreads.push_back({"fsdp2", ranks, accumulation, "false"});
      spreads.push_back({"native", ranks, accumulation, accumulation == 1 ? "true" : "false"});
    }
    spreads.push_back({"fsdp1", ranks, 2, "shard_grad_op", "every"});
    spreads.push_back({"fsdp1", ranks, 2, "no_shard", "every"});
    spreads.push_back({"fsdp2", ranks, 2, "true", "every"});
    spreads.push_back({"native", ranks, 2, "true", "every"});
  }
  const std::string small_buckets = "parallel.zero={reduce_bucket_size: 20000}";
  const std::string overlapped = "parallel.zero={reduce_bucket_size: 9000, overlap_comm: true}";
  spreads.push_back({"zero0", 2, 2, ""});
  spreads.push_back({"zero1", 2, 2, "", "last", {small_buckets}});
  spreads.push_back({"zero1", 4, 1, "", "last", {overlapped}});
  spreads.push_back({"zero2", 2, 1, "", "last", {small_buckets}});
  spreads.push_back({"zero2", 4, 2, "", "last", {overlapped}});
  spreads.push_back({"zero2", 4, 2, "", "last", {"parallel.zero={reduce_scatter: false}"}});
  const std::string released =
      "parallel.zero={stage3_param_persistence_threshold: 100, stage3_max_reuse_distance: 0, "
      "stage3_prefetch_bucket_size: 6000, reduce_bucket_size: 9000}";
  spreads.push_back({"zero3", 2, 2, ""});
  spreads.push_back({"zero3", 2, 1, "", "last", {released}});
  spreads.push_back({"zero3", 4, 2, "", "last", {released}});
  spreads.push_back(
      {"zero3", 4, 1, "", "last", {"parallel.zero={overlap_comm: false, reduce_scatter: false}"}});
  const std::string on_host = "offload.optimizer=cpu";
  spreads.push_back({"zero1", 2, 2, "", "last", {on_host}});
  spreads.push_back({"zero2", 4, 1, "", "last", {small_buckets, on_host}});
  spreads.push_back({"zero2", 2, 4, "", "last", {overlapped, on_host, "offload.pin=false"}});
  spreads.push_back({"zero3", 4, 1, "", "last", {on_host}});
  spreads.push_back({"zero3", 2, 4, "", "last", {released, on_host, "offload.parameters=cpu"}});
  for (const std::string sync : {"last", "every"}) {
    spreads.push_back(
        {"ddp", 2, 2, "", sync, {"parallel.ddp={gradient_as_bucket_view: true, bucket_size: 32KiB}"}});
  }
  spreads.push_back({"ddp", 4, 1, "", "last", {"parallel.ddp.gradient_as_bucket_view=true"}});
  spreads.push_back({"fsdp1", 4, 2, "hybrid_shard"});
  spreads.push_back({"fsdp1", 4, 2, "hybrid_shard_zero2", "every"});
  spreads.push_back({"fsdp1",
                     4,
                     1,
                     "full_shard",
                     "last",
                     {"parallel.use_orig_params=false", "parallel.prefetch.backward=post"}});
  spreads.push_back({"fsdp1",
                     2,
                     2,
                     "full_shard",
                     "last",
                     {"parallel.prefetch.forward=true", "parallel.prefetch.limit_all_gathers=false"}});
  spreads.push_back(
      {"fsdp1", 2, 1, "full_shard", "last", {"parallel.wrap={policy: size, min_params: 20000}"}});
  spreads.push_back({"fsdp2", 4, 2, "2", "every", {"parallel.prefetch.forward_depth=2"}});
  spreads.push_back(
      {"fsdp2", 4, 1, "true", "last", {"parallel.mesh.replicate=2", "parallel.prefetch.backward_depth=2"}});
  spreads.push_back(
      {"fsdp2", 4, 2, "true", "every", {"parallel.mesh.replicate=2", "parallel.requires_all_reduce=false"}});
  spreads.push_back(
      {"native",
       4,
       2,
       "true",
       "last",
       {"parallel.mesh.replicate=2", "parallel.prefetch={forward_depth: 2, backward_depth: 2}"}});
  spreads.push_back({"native",
                     2,
                     1,
                     "true",
                     "last",
                     {"parallel.wrap={policy: size, min_params: 20000}", "activation.checkpoint=full"}});
  spreads.push_back({"fsdp2", 2, 2, "true", "last", {"parallel.reshard_after_backward=false"}});
  const std::string together = "together: [[model.norm, lm_head]]";
  const std::string free_root =
      "overrides: [{match: {class: LlamaForCausalLM}, settings: {reshard_after_forward: true}}]";
  spreads.push_back({"fsdp2", 2, 1, "true", "last", {"parallel.wrap={" + free_root + "}"}});
  spreads.push_back(
      {"fsdp2", 4, 2, "default", "every", {"parallel.wrap={" + together + ", " + free_root + "}"}});
  spreads.push_back(
      {"fsdp2",
       2,
       1,
       "true",
       "last",
       {"parallel.wrap={" + together +
            ", overrides: [{match: {path: lm_head}, settings: {reshard_after_forward: false}}]}",
        "parallel.prefetch={forward_depth: 2, backward_depth: 2}"}});
  spreads.push_back({"native", 2, 2, "true", "last", {"parallel.wrap={" + together + "}"}});
  return spreads;
}

inline std::vector<std::string> joined(std::vector<std::string> first,
                                       const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace shardlab::test

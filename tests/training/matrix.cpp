#include "tests/training/matrix.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"
#include "tests/training/small_model.h"

namespace shardlab::test {
namespace {

constexpr int k_sequences = 12;  // of a step
constexpr int k_steps = 3;
constexpr std::size_t k_ranks = 1, k_accumulation = 2,
                      k_precision = 3;  // dimensions that are looked at by number

void append_words(std::vector<std::string>& overrides, const std::string& text) {
  std::istringstream words(text);
  for (std::string word; words >> word;) overrides.push_back(word);
}

}  // namespace

const std::vector<Dimension>& dimensions() {
  static const std::vector<Dimension> all = {
      {{"parallel.strategy=ddp",
        "parallel.strategy=ddp parallel.ddp.gradient_as_bucket_view=true",
        "parallel.strategy=fsdp1",
        "parallel.strategy=fsdp1 parallel.sharding=shard_grad_op",
        "parallel.strategy=fsdp1 parallel.sharding=no_shard",
        "parallel.strategy=fsdp1 parallel.sharding=hybrid_shard parallel.mesh.replicate=2",
        "parallel.strategy=fsdp2",
        "parallel.strategy=fsdp2 parallel.reshard_after_forward=false",
        "parallel.strategy=fsdp2 parallel.reshard_after_forward=2",
        "parallel.strategy=fsdp2 parallel.mesh.replicate=2",
        "parallel.strategy=fsdp2 offload.parameters=cpu",
        "parallel.strategy=fsdp1 offload.parameters=cpu",
        "parallel.strategy=fsdp2 offload.parameters=cpu offload.pin=false parallel.mesh.replicate=2",
        "parallel.strategy=native",
        "parallel.strategy=native parallel.reshard_after_forward=false",
        "parallel.strategy=native parallel.mesh.replicate=2",
        "parallel.strategy=zero0",
        "parallel.strategy=zero1",
        "parallel.strategy=zero2 parallel.zero.reduce_bucket_size=20000",
        "parallel.strategy=zero2 parallel.zero.reduce_bucket_size=9000 parallel.zero.overlap_comm=true",
        "parallel.strategy=zero3 parallel.zero.stage3_param_persistence_threshold=100 "
        "parallel.zero.stage3_max_reuse_distance=0 parallel.zero.stage3_prefetch_bucket_size=6000 "
        "parallel.zero.reduce_bucket_size=1000000",
        "parallel.strategy=zero1 parallel.zero.grad_accum_dtype=fp32",
        "parallel.strategy=zero2 parallel.zero.reduce_bucket_size=20000 "
        "parallel.zero.use_multi_rank_bucket_allreduce=false",
        "parallel.strategy=zero3 parallel.zero.zero_hpz_partition_size=2 "
        "parallel.zero.stage3_max_reuse_distance=0 "
        "parallel.zero.stage3_param_persistence_threshold=100 parallel.zero.reduce_bucket_size=1000000",
        "parallel.strategy=zero1 parallel.zero.reduce_bucket_size=1000000 offload.optimizer=cpu",
        "parallel.strategy=zero2 parallel.zero.reduce_bucket_size=9000 offload.optimizer=cpu",
        "parallel.strategy=zero3 parallel.zero.stage3_max_reuse_distance=0 offload.optimizer=cpu "
        "offload.parameters=cpu parallel.zero.reduce_bucket_size=1000000"},
       false,
       27},
      {{"cluster.ranks=2", "cluster.ranks=4"}, false, 2},
      {{"train.accumulation=1", "train.accumulation=3", "train.accumulation=3 train.sync=every"}, false, 3},
      {{"", "precision.param=bfloat16 precision.reduce=float32",
        "precision.param=bfloat16 precision.reduce=bfloat16", "precision.param=bfloat16"},
       false,
       2},
      {{"", "parallel.prefetch.forward=true", "parallel.prefetch.backward=none",
        "parallel.prefetch.forward_depth=2 parallel.prefetch.backward_depth=2"},
       false,
       4},
      {{"", "parallel.wrap.policy=none", "parallel.wrap.policy=size parallel.wrap.min_params=20000"}},
      {{"", "model.overrides.tie_word_embeddings=true", "model.frozen=[model.embed_tokens,model.layers.0]",
        "model.frozen=[model.layers.1.mlp,**.input_layernorm]"},
       true,
       3},
      {{"", "activation.checkpoint=full", "activation.checkpoint=full activation.placement=outside",
        "activation.checkpoint=full activation.reentrant=true"},
       false,
       3},
      {{"train.optimizer=sgd train.learning_rate=0.1 train.weight_decay=0",
        "train.optimizer=sgd train.learning_rate=0.1 train.momentum=0.9 train.clip_norm=1"},
       true},
  };
  return all;
}

std::vector<std::string> overrides_of(const Choice& choice) {
  std::vector<std::string> overrides;
  for (std::size_t d = 0; d < choice.size(); ++d) append_words(overrides, dimensions()[d].values[choice[d]]);
  return overrides;
}

std::string name_of(const Choice& choice) {
  return fmt::format("{}", fmt::join(overrides_of(choice), " "));
}

Result<PlannedScenario> planned(const std::vector<std::string>& overrides, int ranks, int accumulation) {
  std::vector<std::string> all = overrides;
  all.push_back("train.micro_batch=" + std::to_string(k_sequences / ranks / accumulation));
  SHARDLAB_TRY(const Scenario scenario,
               parse_scenario(k_small_model, std::string(SHARDLAB_TEST_SOURCE) + "/small.yaml", all));
  return plan_scenario(scenario);
}

Result<PlannedScenario> planned(const Choice& choice) {
  return planned(overrides_of(choice), choice[k_ranks] == 0 ? 2 : 4, choice[k_accumulation] == 0 ? 1 : 3);
}

const MatrixRun::Reference& MatrixRun::reference(const Choice& choice) {
  std::vector<std::string> overrides;
  for (std::size_t d = 0; d < choice.size(); ++d) {
    if (dimensions()[d].changes_mathematics) append_words(overrides, dimensions()[d].values[choice[d]]);
  }
  const std::string name = fmt::format("{}", fmt::join(overrides, " "));
  const auto known = references_.find(name);
  if (known != references_.end()) return known->second;
  Result<Trained> trained = train(*planned(overrides, 1, 1), k_steps);
  REQUIRE_OK(trained);
  Reference made{*std::move(trained), 0};
  for (const int pieces : {2, 4, 12}) {
    const Result<Trained> reordered =
        train(*planned(joined(overrides, {"train.accumulation=" + std::to_string(pieces)}), 1, pieces), 1);
    REQUIRE_OK(reordered);
    made.order =
        std::max(made.order, worst_difference(reordered->gradients, made.whole.gradients).difference);
  }
  REQUIRE(made.order < 1e-5);
  return references_.emplace(name, std::move(made)).first->second;
}

void MatrixRun::check(const Choice& choice) {
  INFO(name_of(choice));
  const Reference& one = reference(choice);
  const Trained& whole = one.whole;
  const Result<Trained> sharded = train(*planned(choice), k_steps);
  REQUIRE_OK(sharded);
  const bool exact = dimensions()[k_precision].values[choice[k_precision]].empty();
  // DeepSpeed's masters are cut from weights that were rounded to 16 bits.
  const bool rounded = !exact && name_of(choice).starts_with("parallel.strategy=zero");
  if (rounded) {
    CHECK(worst_difference(sharded->initial, whole.initial).difference <= 1.0 / 256);
  } else {
    CHECK(bitwise_equal(sharded->initial, whole.initial));
  }
  for (std::size_t step = 0; step < k_steps; ++step) {
    const double difference = std::abs(sharded->losses[step] / whole.losses[step] - 1);
    CHECK(difference <= (exact ? 1e-6 : 2e-2));
    if (exact) worst_.loss = std::max(worst_.loss, difference);
  }
  if (!exact) return;
  const WorstTensor gradients = worst_difference(sharded->gradients, whole.gradients);
  INFO("reordering alone moves them by " << one.order);
  CHECK(gradients.difference <= std::max(1e-6, 3 * one.order));
  worst_.gradient = std::max(worst_.gradient, gradients.difference);
}

}  // namespace shardlab::test

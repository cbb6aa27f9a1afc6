#include "engine/scenario/zero_options.h"

#include "engine/scenario/read_scenario.h"
#include "engine/scenario/unsupported.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

std::string error_of(const std::vector<std::string>& overrides) {
  std::vector<std::string> all{"model.config=tiny-llama", "model.sequence_length=16",
                               "cluster={device: cpu, ranks: 2}"};
  all.insert(all.end(), overrides.begin(), overrides.end());
  const auto read = parse_scenario("", "a.yaml", all);
  return read ? "" : to_string(read.error());
}

}  // namespace

TEST_CASE("zero options: DeepSpeed's defaults, and what the map says") {
  using Map = std::map<std::string, std::string>;
  const ZeroOptions defaults = zero_options(Map{});
  CHECK(defaults.reduce_bucket_size == 500'000'000);
  CHECK(defaults.reduce_scatter);
  CHECK_FALSE(defaults.overlaps(2));
  CHECK(defaults.overlaps(3));
  CHECK_FALSE(defaults.grad_accum_dtype);
  const ZeroOptions given = zero_options(
      Map{{"reduce_bucket_size", "1000"}, {"overlap_comm", "true"}, {"grad_accum_dtype", "\"fp32\""}});
  CHECK(given.reduce_bucket_size == 1000);
  CHECK(given.overlaps(2));
  CHECK(given.grad_accum_dtype == DType::float32);
}

TEST_CASE("zero options: what files of stage 3 say that asks for nothing is accepted, the rest is not") {
  const auto zero3 = [](const std::string& option) {
    return error_of({"parallel={strategy: zero3, zero: {" + option + "}}"});
  };
  CHECK(zero3("zero_hpz_partition_size: 1, zero_quantized_weights: false, zero_quantized_gradients: false, "
              "stage3_module_granularity_threshold: 0, stage3_use_all_reduce_for_fetch_params: false") == "");
  CHECK_THAT(zero3("zero_quantized_nontrainable_weights: true"),
             test::contains_text("zero_quantized_nontrainable_weights: false"));
  CHECK(zero3("leaf_module: {classes: LlamaMLP, names: [], name_suffixes: [mlp]}") == "");
  CHECK_THAT(zero3("leaf_module: {class: LlamaMLP}"), test::contains_text("a map of classes, names"));
  CHECK_THAT(zero3("leaf_module: [LlamaMLP]"), test::contains_text("a map of classes, names"));
  CHECK_THAT(zero3("leaf_module: {names: [1]}"), test::contains_text("each a text or a list of texts"));
  CHECK_THAT(zero3("stage3_max_reuse_distance: -1"), test::contains_text("a whole number of 0 or more"));
  CHECK_THAT(zero3("mics_shard_size: 8"), test::contains_text("no MiCS"));
  CHECK_THAT(error_of({"parallel={strategy: zero1, zero: {mics_shard_size: 8}}"}),
             test::contains_text("no MiCS"));
}

TEST_CASE("zero options: what DeepSpeed refuses or ignores is refused by name") {
  const auto zero2 = [](const std::string& option) {
    return error_of({"parallel={strategy: zero2, zero: {" + option + "}}"});
  };
  CHECK_THAT(zero2("reduce_bucket_size: 0"), test::contains_text("a bucket holds at least one element"));
  CHECK_THAT(zero2("allgather_bucket_size: 7"), test::contains_text("7 is odd"));
  CHECK(zero2("allgather_bucket_size: 70") == "");
  CHECK_THAT(zero2("stage3_prefetch_bucket_size: 5"), test::contains_text("has no effect below stage 3"));
  CHECK(zero2("round_robin_gradients: true, communication_data_type: fp32") == "");
  CHECK(zero2("use_multi_rank_bucket_allreduce: false") == "");
  CHECK_THAT(zero2("contiguous_gradients: false"), test::contains_text("not supported yet"));
  CHECK_THAT(error_of({"parallel.strategy=zero1", "precision={param: bfloat16, reduce: float32}"}),
             test::contains_text("in the dtype of the parameters"));
  CHECK_THAT(error_of({"parallel.strategy=zero2", "train.clip_value=0.5"}),
             test::contains_text("clips by the norm of all gradients alone"));
  CHECK_THAT(error_of({"parallel.strategy=zero0", "offload.optimizer=cpu"}),
             test::contains_text("stage 0 partitions nothing"));
  CHECK_THAT(error_of({"parallel.strategy=zero2", "train={accumulation: 2, sync: every}"}),
             test::contains_text("train.sync"));
  CHECK_THAT(error_of({"parallel={strategy: zero2, wrap: {policy: transformer}}"}) +
                 error_of({"parallel={strategy: zero2, wrap: {policy: none}}"}),
             test::contains_text("has no effect with strategy zero2"));
  CHECK_THAT(error_of({"parallel.strategy=zero2", "offload.parameters=cpu"}),
             test::contains_text("on the device below stage 3"));
  CHECK_THAT(error_of({"parallel.strategy=zero3", "offload.parameters=cpu"}),
             test::contains_text("the optimizer on the device"));
  CHECK_THAT(error_of({"parallel.strategy=zero3", "parallel.zero={sub_group_size: 0}"}),
             test::contains_text("sub_group_size: a sub-group holds at least one element"));
}

TEST_CASE("zero options: a norm may be left out where nothing needs it") {
  const auto without = [](const std::string& strategy, std::vector<std::string> more) {
    more.push_back("parallel={strategy: " + strategy + ", zero: {compute_grad_norm: false}}");
    return error_of(more);
  };
  CHECK(without("zero1", {}) == "");
  CHECK(without("zero2", {"precision.param=float16"}) == "");
  CHECK_THAT(without("zero2", {"train.clip_norm=1"}),
             test::contains_text("refuses it with gradient_clipping"));
  CHECK_THAT(without("zero2", {"offload.optimizer=cpu"}),
             test::contains_text("refuses it with offload_optimizer"));
  CHECK_THAT(without("zero3", {}), test::contains_text("compute_grad_norm has no effect under stage 3"));
  CHECK_THAT(error_of({"parallel={strategy: zero1, zero: {compute_grad_norm: false, grad_accum_dtype: fp32}}",
                       "precision.param=bfloat16"}),
             test::contains_text("refuses it with float32 sums"));
}

TEST_CASE("zero options: hpZ divides the ranks, quantised gradients want reduce_scatter") {
  const auto zero3 = [](const std::string& option, const std::string& cluster) {
    return error_of({"parallel={strategy: zero3, zero: {" + option + "}}", "cluster={" + cluster + "}"});
  };
  CHECK(zero3("zero_hpz_partition_size: 2", "device: cpu, ranks: 4") == "");
  CHECK(zero3("zero_hpz_partition_size: 8", "device: cpu, ranks: 4") == "");  // DeepSpeed takes all four
  CHECK_THAT(zero3("zero_hpz_partition_size: 4", "device: cpu, ranks: 6"),
             test::contains_text("does not divide the 6 ranks"));
  CHECK_THAT(error_of({"parallel={strategy: zero3, zero: {zero_hpz_partition_size: 2}}",
                       "offload={optimizer: cpu, parameters: cpu}"}),
             test::contains_text("zero_hpz_partition_size with offload.parameters"));
  CHECK(zero3("zero_quantized_gradients: true", "node: dgx-h100") == "");
  CHECK(zero3("zero_quantized_gradients: true", "node: dgx-h100, nodes: 2") == "");
  CHECK_THAT(error_of({"parallel={strategy: zero3, zero: {zero_quantized_gradients: true}}",
                       "cluster={node: dgx-h100, nodes: 2}", "offload.optimizer=cpu"}),
             test::contains_text("over several nodes with offload.optimizer"));
  CHECK_THAT(zero3("zero_quantized_gradients: true, reduce_scatter: false", "node: dgx-h100"),
             test::contains_text("demands reduce_scatter"));
}

TEST_CASE("zero options: weights in eight bits are of GPUs, and predicted alone") {
  const std::vector<std::string> quantized{"parallel={strategy: zero3, zero: {zero_quantized_weights: true}}",
                                           "cluster={node: dgx-h100}"};
  CHECK(error_of(quantized) == "");
  CHECK_THAT(error_of({quantized.front()}), test::contains_text("by kernels of GPUs alone"));
  std::vector<std::string> offloaded = quantized;
  offloaded.emplace_back("offload={optimizer: cpu, parameters: cpu}");
  CHECK_THAT(error_of(offloaded), test::contains_text("zero_quantized_weights with offload.parameters"));
}

TEST_CASE("zero options: what ZeRO++ quantises is predicted alone") {
  const auto runs = [](const std::string& option, const std::string& cluster) {
    const std::vector<std::string> settings{"parallel={strategy: zero3, zero: {" + option + ": true}}",
                                            "cluster={" + cluster + "}"};
    const auto scenario =
        parse_scenario("model: {config: tiny-llama, sequence_length: 16}", "a.yaml", settings);
    REQUIRE_OK(scenario);
    const Status can = check_runs(*scenario);
    return can ? "" : to_string(can.error());
  };
  CHECK_THAT(runs("zero_quantized_weights", "node: dgx-h100"),
             test::contains_text("zero_quantized_weights: true is predicted, and not run yet"));
  CHECK_THAT(runs("zero_quantized_gradients", "node: dgx-h100, nodes: 2"),
             test::contains_text("over several nodes is predicted, and not run yet"));
  CHECK(runs("zero_quantized_gradients", "node: dgx-h100") == "");
}

TEST_CASE("zero options: float32 sums of bfloat16 gradients make ZeRO-1 another optimizer") {
  const auto sums = [](const std::string& strategy, const std::string& param, const std::string& more) {
    return error_of({"parallel={strategy: " + strategy + ", zero: {grad_accum_dtype: fp32}}",
                     "precision.param=" + param, more});
  };
  CHECK(sums("zero1", "bfloat16", "name=a") == "");
  CHECK_THAT(sums("zero1", "float16", "name=a"),
             test::contains_text("grad_accum_dtype: float32 under zero1"));
  CHECK_THAT(sums("zero1", "bfloat16", "offload.optimizer=cpu"),
             test::contains_text("grad_accum_dtype: float32 under zero1"));
  CHECK(sums("zero2", "bfloat16", "offload.optimizer=cpu") == "");
}

TEST_CASE("zero options: what another dtype carries may go to the host, float32 sums in a prediction alone") {
  for (const char* strategy : {"zero1", "zero2", "zero3"}) {
    CHECK(
        error_of({std::string("parallel={strategy: ") + strategy + ", zero: {communication_data_type: fp32}}",
                  "precision.param=bfloat16", "offload.optimizer=cpu"}) == "");
  }
  const std::vector<std::string> settings{"parallel={strategy: zero2, zero: {grad_accum_dtype: fp32}}",
                                          "precision.param=bfloat16", "offload.optimizer=cpu",
                                          "cluster={device: cpu, ranks: 2}"};
  const auto scenario =
      parse_scenario("model: {config: tiny-llama, sequence_length: 16}", "a.yaml", settings);
  REQUIRE_OK(scenario);
  const Status runs = check_runs(*scenario);
  REQUIRE_FALSE(runs);
  CHECK_THAT(to_string(runs.error()), test::contains_text("is predicted, and not run yet"));
}

TEST_CASE("float16 under DeepSpeed: its own scaler, and what that does not know") {
  const auto half = [](const std::string& strategy, const std::string& scaler) {
    return error_of({"parallel.strategy=" + strategy, "precision.param=float16", "scaler={" + scaler + "}"});
  };
  for (const char* strategy : {"zero0", "zero1", "zero2", "zero3"}) CHECK(half(strategy, "") == "");
  CHECK(error_of({"parallel.strategy=zero3", "precision.param=float16",
                  "offload={optimizer: cpu, parameters: cpu}"}) == "");
  CHECK(half("zero2", "hysteresis: 4, consecutive_hysteresis: true, minimum: 8, interval: 5") == "");
  CHECK(half("zero1", "dynamic: false, initial_scale: 128") == "");
  CHECK_THAT(half("zero2", "growth: 4"), test::contains_text("DeepSpeed doubles the scale"));
  CHECK_THAT(half("zero2", "enabled: false"), test::contains_text("scales every float16 loss"));
  CHECK_THAT(half("zero0", "hysteresis: 3"), test::contains_text("at every overflow"));
  CHECK_THAT(half("fsdp2", "hysteresis: 3"), test::contains_text("it is DeepSpeed's"));
  CHECK_THAT(error_of({"parallel.strategy=zero2", "precision.param=bfloat16", "scaler.enabled=true"}),
             test::contains_text("float16 losses alone"));
}

}  // namespace shardlab

// What a prediction says it takes for given.
#include "simulator/assumptions.h"
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/read_scenario.h"

#include "tests/catch.h"
#include "tests/unit/simulator/small_scenario.h"

namespace shardlab {
namespace {

std::string all(const PlannedScenario& planned, bool calibrated = false) {
  std::string text;
  for (const std::string& each : assumptions_of(planned, test::device_of(planned), calibrated))
    text += each + "\n";
  return text;
}

PlannedScenario on_gpus(const std::string& gpu, const std::string& param) {
  return test::small_scenario(
      "parallel: {strategy: fsdp2}\nprecision: {param: " + param + ", reduce: float32}", "clip_norm: 1.0",
      "{gpu: " + gpu + ", gpus_per_node: 8}");
}

}  // namespace

TEST_CASE("a prediction says that figures are estimates until they are measured") {
  const PlannedScenario planned = on_gpus("MI300X", "bfloat16");
  CHECK_THAT(all(planned), test::contains_text("figures of MI300X are estimates: "));
  CHECK_THAT(all(planned), test::contains_text("gemm_e_max"));
  CHECK(all(planned).find("watts") == std::string::npos);
  CHECK(all(planned, true).empty());
}

TEST_CASE("a dtype without units and a card of two devices are said") {
  CHECK_THAT(all(on_gpus("V100-SXM-16GB", "bfloat16")), test::contains_text("no bfloat16 units"));
  CHECK(all(on_gpus("V100-SXM-16GB", "float16")).find("bfloat16 units") == std::string::npos);
  const PlannedScenario amd = on_gpus("MI250X", "bfloat16");
  CHECK_THAT(all(amd), test::contains_text("one of the 2 devices of an MI250X card"));
  const Device die = test::device_of(amd);
  CHECK(die.memory < gibibytes(64));
  CHECK(die.peak(DType::bfloat16)->value == 191.5e12);
}

TEST_CASE("whose network joins nodes that nobody described is said") {
  const auto nodes = [](const std::string& more) {
    return test::small_scenario("parallel: {strategy: fsdp2}", "clip_norm: 1.0",
                                "{gpu: H100, gpus_per_node: 8, nodes: 4" + more + "}");
  };
  CHECK_THAT(all(nodes("")),
             test::contains_text("between nodes a GPU has the network of dgx-h100, 400 Gbit/s; "
                                 "cluster.inter_node_gbps_per_gpu says another"));
  CHECK(all(nodes(", inter_node_gbps_per_gpu: 100")).find("dgx-h100") == std::string::npos);
  CHECK(all(on_gpus("H100", "bfloat16")).find("dgx-h100") == std::string::npos);  // one node
}

TEST_CASE("gradients that DeepSpeed quantises in another dtype than float16 are said") {
  const auto exchanged = [](const std::string& zero) {
    return all(test::small_scenario("parallel: {strategy: zero3, zero: {zero_quantized_gradients: true" +
                                        zero + "}}\nprecision: {param: bfloat16}",
                                    "clip_norm: 1.0", "{gpu: H100, gpus_per_node: 2, nodes: 2}"));
  };
  CHECK_THAT(exchanged(""), test::contains_text("it trains wrongly; zero.communication_data_type: fp16"));
  CHECK(exchanged(", communication_data_type: fp16").find("trains wrongly") == std::string::npos);
}

TEST_CASE("hardware that there is not is said") {
  const auto supposed = [](const std::string& factors) {
    return test::small_scenario("parallel: {strategy: fsdp2}", "clip_norm: 1.0",
                                "{node: hgx-h100, suppose: {" + factors + "}}");
  };
  CHECK_THAT(
      all(supposed("memory: 1.25, intra_node: 2")),
      test::contains_text("hardware that there is not (cluster.suppose): 1.25 times the memory of a GPU, "
                          "2 times the links within a node"));
  CHECK(all(supposed("memory: 1")).find("suppose") == std::string::npos);
}

TEST_CASE("balanced experts are an assumption, stated shares are not") {
  const auto experts = [](const std::string& load) {
    const auto scenario = parse_scenario(
        "model: {config: qwen3-30b-a3b, sequence_length: 32, overrides: {num_hidden_layers: 2}" + load +
            "}\ncluster: {node: dgx-h100}\nparallel: {strategy: fsdp2}\ntrain: {micro_batch: 2}\n",
        "moe.yaml");
    REQUIRE_OK(scenario);
    auto planned = plan_scenario(*scenario);
    REQUIRE_OK(planned);
    return *std::move(planned);
  };
  CHECK_THAT(all(experts("")), test::contains_text("tokens spread evenly over the experts"));
  CHECK(all(experts(", moe: {load: worst}")).find("evenly") == std::string::npos);
}

}  // namespace shardlab

#include "simulator/calibrate/choose_calibration.h"

#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

Scenario on_cluster(const std::string& cluster) {
  auto scenario =
      parse_scenario("name: s\nmodel: {config: tiny-llama, sequence_length: 64}\ncluster: " + cluster +
                         "\nparallel: {strategy: fsdp2}\ntrain: {micro_batch: 1}\n",
                     "s.yaml");
  REQUIRE_OK(scenario);
  return *std::move(scenario);
}

std::string text_of(const std::string& gpu, int ranks, const std::string& when, int nodes = 1) {
  Calibration calibration;
  calibration.machine = {"NVIDIA " + gpu, 0, ranks, 1, "2.11.0", gpu, nodes};
  calibration.when = when;
  calibration.coefficients["matmul.forward.bfloat16.rate"] = {7e14, "FLOP/s"};
  calibration.coefficients["all_gather.bandwidth"] = {3e11, "B/s"};
  calibration.id = calibration_id(calibration);
  return to_json(calibration);
}

const std::vector<std::string> k_texts{text_of("A100-SXM-80GB", 8, "e"), text_of("H100-SXM", 1, "d"),
                                       text_of("H100-SXM", 8, "c"), text_of("H100-SXM", 8, "b")};

std::optional<Calibration> chosen(const std::string& cluster, std::span<const std::string> texts = k_texts) {
  const auto calibration = choose_calibration(texts, "runs.db", on_cluster(cluster));
  REQUIRE_OK(calibration);
  return *calibration;
}

TEST_CASE("of GPUs the newest calibration of as many on one node is taken whole") {
  const auto calibration = chosen("{node: hgx-h100}");
  REQUIRE(calibration);
  CHECK(calibration->when == "c");
  CHECK(calibration->coefficients.contains("all_gather.bandwidth"));
  CHECK(chosen("{gpu: H100-SXM, gpus_per_node: 1}")->when == "d");
}

TEST_CASE("another number of the same GPU takes what belongs to one GPU") {
  for (const char* cluster : {"{node: hgx-h100, nodes: 2}", "{gpu: H100-SXM, gpus_per_node: 4}"}) {
    const auto calibration = chosen(cluster);
    REQUIRE(calibration);
    CHECK(calibration->when == "d");
    CHECK(calibration->coefficients.contains("matmul.forward.bfloat16.rate"));
    CHECK_FALSE(calibration->coefficients.contains("all_gather.bandwidth"));
  }
}

TEST_CASE("of several nodes the calibration made on as many is taken whole") {
  const std::vector<std::string> texts{text_of("H100-SXM", 16, "one node of sixteen"),
                                       text_of("H100-SXM", 16, "two nodes", 2), k_texts[2]};
  const auto calibration = chosen("{node: hgx-h100, nodes: 2}", texts);
  REQUIRE(calibration);
  CHECK(calibration->when == "two nodes");
  CHECK(calibration->coefficients.contains("all_gather.bandwidth"));
  CHECK(chosen("{node: hgx-h100}", texts)->when == "c");
}

TEST_CASE("no calibration of another GPU, or of processors, is taken") {
  CHECK_FALSE(chosen("{gpu: H200-SXM, gpus_per_node: 8}"));
  CHECK_FALSE(chosen("{device: cpu, ranks: 8}"));
}

}  // namespace
}  // namespace shardlab

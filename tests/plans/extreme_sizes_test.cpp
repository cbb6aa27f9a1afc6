// Scenarios whose settings stand at the ends of their ranges: figures that are no nonsense, or a refusal with
// a place.
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/planner/plan_scenario.h"
#include "engine/report/summarize.h"
#include "engine/report/unit_warnings.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/resolve_device.h"
#include "engine/trace/run_summary_json.h"
#include "simulator/simulate.h"
#include "tests/catch.h"

namespace shardlab::test {
namespace {

using Settings = std::vector<std::string>;

constexpr const char* k_base =
    "model: {config: tiny-llama, sequence_length: 64, overrides: {num_hidden_layers: 2, "
    "max_position_embeddings: 2147483648}}\n"
    "cluster: {node: hgx-h100, nodes: 1}\nparallel: {strategy: fsdp2}\ntrain: {micro_batch: 1}\n";

Result<RunSummary> predicted(const Settings& settings) {
  SHARDLAB_TRY(const Scenario scenario, parse_scenario(k_base, "extreme.yaml", settings));
  SHARDLAB_TRY(const PlannedScenario planned, plan_scenario(scenario));
  SHARDLAB_TRY(const Device device, resolve_device(*planned.scenario.cluster));
  SHARDLAB_TRY(const RunTrace trace, simulate({planned, device}));
  SHARDLAB_TRY(const DeviceLimits limits, device_limits(planned));
  return summarize(planned, trace, limits);
}

// The path of the first number below zero; empty: there is none.
std::string negative_figure(const nlohmann::ordered_json& json, const std::string& path = "") {
  if (json.is_number() && json.get<double>() < 0) return fmt::format("{}: {}", path, json.dump());
  if (!json.is_structured()) return "";
  for (const auto& [key, value] : json.items()) {
    if (std::string found = negative_figure(value, path + "/" + key); !found.empty()) return found;
  }
  return "";
}

// What can be said of any of them. True: it was predicted.
bool check_prediction(const Settings& settings, const Result<RunSummary>& run) {
  INFO(fmt::format("{}", fmt::join(settings, " ")));
  if (!run) {
    INFO(to_string(run.error()));
    CHECK((run.error().kind == ErrorKind::bad_input || run.error().kind == ErrorKind::not_possible));
    CHECK((!run.error().place.empty() || !run.error().parts.empty()));
    return false;
  }
  CHECK(negative_figure(summary_json(*run)).empty());
  CHECK(run->step_time.median.value > 0);
  CHECK(run->tokens_per_second > 0);
  if (run->mfu) CHECK(*run->mfu <= 1.5);
  return true;
}

class Drawn {
 public:
  explicit Drawn(std::uint32_t seed) : random_(seed) {}

  // One of them.
  std::string of(const std::vector<std::string>& values) { return values[random_() % values.size()]; }

  Settings settings() {
    Settings settings = {
        "parallel.strategy=" + of({"ddp", "fsdp1", "fsdp2", "native", "zero1", "zero2", "zero3"}),
        "model.implementation=" + of({"eager", "fused"}),
        "model.sequence_length=" + of({"1", "64", "4096", "1048576", "16777216", "268435456"}),
        "train.micro_batch=" + of({"1", "1", "8", "1024", "1048576"}),
        "train.accumulation=" + of({"1", "1", "2", "64", "1048576"}),
        "cluster=" + of({"{node: hgx-h100, nodes: 1}", "{node: hgx-h100, nodes: 100000}",
                         "{gpu: H100-SXM, gpus_per_node: 1, inter_node_gbps_per_gpu: 1e-9, nodes: 3}",
                         "{device: cpu, ranks: 1}", "{device: cpu, ranks: 4096}"})};
    const Settings optional = {"model.overrides.hidden_size=" + of({"8", "65536", "2147483648"}),
                               "model.overrides.intermediate_size=" + of({"1", "1048576", "2147483648"}),
                               "model.overrides.head_dim=" + of({"2", "128", "2147483648"}),
                               "model.overrides.vocab_size=" + of({"1", "262144", "2147483648"}),
                               "model.loss={kind: chunked, chunks: 2}",
                               "activation.checkpoint=full",
                               "model.lora={rank: 65536, targets: [all-linear]}",
                               "precision.param=bfloat16"};
    for (const std::string& each : optional)
      if (random_() % 4 == 0) settings.push_back(each);
    return settings;
  }

 private:
  std::mt19937 random_;
};

}  // namespace

TEST_CASE("settings at the ends of their ranges give no negative figure, or are refused with a place") {
  Drawn drawn(23);
  int made = 0, refused = 0;
  for (int i = 0; i < 300; ++i) {
    const Settings settings = drawn.settings();
    (check_prediction(settings, predicted(settings)) ? made : refused) += 1;
  }
  CAPTURE(made, refused);
  CHECK(made >= 60);
  CHECK(refused >= 60);
}

TEST_CASE("families that make scores one by one are refused before their scores are no integer any more") {
  int made = 0, refused = 0;
  for (const char* const model :
       {"gemma-2-2b", "mpt-7b", "falcon-7b", "mixtral-8x7b", "gpt2", "qwen3-30b-a3b"}) {
    for (const char* const length : {"256", "65536", "4194304", "268435456"}) {
      for (const char* const batch : {"1", "4096"}) {
        Settings settings = {std::string("model={config: ") + model + ", sequence_length: " + length +
                                 ", implementation: eager}",
                             std::string("train.micro_batch=") + batch};
        settings.push_back("cluster={gpu: V100-SXM-32GB, gpus_per_node: 8, nodes: 1}");
        (check_prediction(settings, predicted(settings)) ? made : refused) += 1;
      }
    }
  }
  CAPTURE(made, refused);
  CHECK(made >= 6);
  CHECK(refused >= 6);
}

TEST_CASE("a longer sequence takes longer, or is refused") {
  for (const char* const cluster : {"{node: hgx-h100, nodes: 1}", "{device: cpu, ranks: 2}"}) {
    for (const char* const implementation : {"eager", "fused"}) {
      Nanoseconds before;
      bool was_refused = false;
      for (std::int64_t length = 64; length <= 1 << 28; length *= 4) {
        const Settings settings = {fmt::format("model.sequence_length={}", length),
                                   fmt::format("model.implementation={}", implementation),
                                   fmt::format("cluster={}", cluster)};
        const auto run = predicted(settings);
        const bool made = check_prediction(settings, run);
        INFO(fmt::format("{}", fmt::join(settings, " ")));
        CHECK_FALSE((made && was_refused));
        if (made) CHECK(run->step_time.median > before);
        if (made) before = run->step_time.median;
        was_refused = !made;
      }
      CHECK(before.value > 0);
      CHECK(was_refused);
    }
  }
}

TEST_CASE("a refusal names the number that is too large, the setting to lower and what else there is") {
  const auto refusal = [](const Settings& settings) {
    const auto run = predicted(settings);
    REQUIRE_FALSE(run.has_value());
    return run.error();
  };
  const Error sequence = refusal({"model.sequence_length=268435456"});
  CHECK(sequence.place.name == "model.sequence_length");
  CHECK_THAT(sequence.what, contains_text("FLOPs: more than 3e+18 are not counted"));
  CHECK(sequence.hint ==
        "lower model.sequence_length (268435456), train.micro_batch (1), train.accumulation (1), or the "
        "sizes of "
        "the model");
  const Error batch = refusal(
      {"model.sequence_length=65536", "train.micro_batch=1048576", "model.overrides.hidden_size=65536"});
  CHECK(batch.place.name == "train.micro_batch");
  CHECK_THAT(batch.what, contains_text("a rank's tensors take"));
  const Error experts = refusal({"model={config: mixtral-8x7b, sequence_length: 64}",
                                 "model.overrides={num_local_experts: 2147483648}"});
  CHECK_THAT(to_string(experts), contains_text("experts are more than any model has"));
}

TEST_CASE("a drive slower than any is no negative time") {
  const Settings settings = {"parallel.strategy=zero3", "offload={optimizer: nvme}",
                             "cluster.nvme={path: /nowhere, read: 1B/s, write: 1B/s}",
                             "model.overrides.hidden_size=8192", "model.overrides.intermediate_size=65536"};
  const auto run = predicted(settings);
  CHECK_FALSE(check_prediction(settings, run));
  CHECK_THAT(run.error().what, contains_text("days of a step: more than 100 are not simulated"));
}

}  // namespace shardlab::test

// The doctor is quiet where nothing is wrong, and quick: scenarios made from a seed.
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include <fmt/format.h>

#include "engine/cli/doctor/doctor_job.h"
#include "engine/doctor/job/room.h"
#include "engine/scenario/train_spec.h"
#include "simulator/remedies/try_remedies.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() { fs::create_directories(path_); }
  ~Folder() { fs::remove_all(path_); }
  std::string file(const std::string& text) const {
    const fs::path file = path_ / "made.yaml";
    std::ofstream(file) << text;
    return file.string();
  }
  CommonOptions options() const {
    CommonOptions options;
    options.database = (path_ / "none.db").string();
    return options;
  }

 private:
  fs::path path_ = fs::temp_directory_path() / fmt::format("shardlab-doctor-{}", std::random_device{}());
};

// The same numbers on every machine, which distributions of the library do not promise.
class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}
  template <std::size_t N>
  const char* of(const std::array<const char*, N>& choices) {
    return choices[engine_() % N];
  }

 private:
  std::mt19937 engine_;
};

std::string made_scenario(Dice& dice) {
  const std::string strategy =
      dice.of<10>({"fsdp2", "fsdp2", "fsdp2, reshard_after_forward: false", "fsdp1",
                   "fsdp1, sharding: shard_grad_op", "ddp", "zero1", "zero2", "zero3", "native"});
  const std::string cluster = dice.of<6>(
      {"node: hgx-h100", "node: hgx-h100, nodes: 2", "gpu: A100-SXM-80GB, gpus_per_node: 8",
       "gpu: H100-SXM, gpus_per_node: 4", "gpu: RTX4090, gpus_per_node: 2", "device: cpu, ranks: 2"});
  const bool one_type = strategy == "ddp";
  const bool zero = strategy.starts_with("zero");
  const std::string model =
      dice.of<5>({"config: llama-3.2-1b, overrides: { num_hidden_layers: 4 }",
                  "config: llama-3-8b, overrides: { num_hidden_layers: 3 }", "config: gpt2",
                  "config: tiny-llama", "config: mistral-7b, overrides: { num_hidden_layers: 2 }"});
  return fmt::format(
      "model: {{ {}, sequence_length: {} }}\ncluster: {{ {} }}\nparallel: {{ strategy: {} }}\n"
      "precision: {{ {} }}\nactivation: {{ checkpoint: {} }}\n"
      "train: {{ micro_batch: {}, accumulation: {}, clip_norm: 1.0 }}\n",
      model, dice.of<3>({"512", "1024", "256"}), cluster, strategy,
      one_type ? "" : (zero ? "param: bfloat16" : "param: bfloat16, reduce: float32"),
      dice.of<2>({"none", "full"}), dice.of<4>({"4", "8", "16", "32"}), dice.of<4>({"1", "1", "2", "4"}));
}

bool has_a_tenth_to_spare(const RunSummary& run) {
  if (!run.memory_limit) return true;
  return run.fits == Fit::yes &&
         static_cast<double>(need_of(run).value) <= 0.9 * static_cast<double>(run.memory_limit->value);
}

// Only fixes that leave the global batch as it is can do that: others do more in a longer step.
bool a_fix_makes_it_a_tenth_faster(const Examination& examination) {
  for (const Finding& finding : examination.findings) {
    if (!finding.effect) continue;
    const double before = static_cast<double>(finding.effect->before.step_time.value);
    if (before >= 1.1 * static_cast<double>(finding.effect->after.step_time.value)) return true;
  }
  return false;
}

TEST_CASE("scenarios that fit and are as fast as the doctor can make them have nothing above info") {
  constexpr int k_wanted = 300;
  const Folder folder;
  Dice dice(20);
  int healthy = 0, made = 0, refused = 0;
  while (healthy < k_wanted && made < 4000) {
    ++made;
    const std::string text = made_scenario(dice);
    const auto job = job_of_scenario(folder.file(text), folder.options());
    if (!job) {
      ++refused;
      continue;
    }
    if (!has_a_tenth_to_spare(job->predicted)) continue;
    const Examination examination = examine_job(*job, {}, {}).value();
    if (a_fix_makes_it_a_tenth_faster(examination)) continue;
    ++healthy;
    INFO(text);
    for (const Finding& finding : examination.findings) {
      INFO(finding.rule << ": " << finding.message);
      CHECK(finding.severity == Severity::info);
    }
  }
  fmt::print("{} healthy scenarios of {} made, {} of them refused\n", healthy, made, refused);
  CHECK(healthy == k_wanted);
}

TEST_CASE("ten fixes of a scenario of 80 layers") {
  const Folder folder;
  const auto job = job_of_scenario(
      folder.file("model: { config: llama-3-70b, sequence_length: 4096, implementation: fused }\n"
                  "cluster: { node: hgx-h100, nodes: 8 }\nparallel: { strategy: fsdp2 }\n"
                  "precision: { param: bfloat16, reduce: float32 }\ntrain: { micro_batch: 8 }\n"),
      folder.options());
  REQUIRE(job);
  const std::array<const char*, 10> fixes = {"activation.checkpoint=full",
                                             "train.micro_batch=4",
                                             "train.micro_batch=2",
                                             "train.micro_batch=1",
                                             "precision.reduce=bfloat16",
                                             "offload.parameters=cpu",
                                             "parallel.reshard_after_forward=true",
                                             "parallel.reshard_after_forward=false",
                                             "parallel.mesh.replicate=8",
                                             "cluster.allocator.conf=expandable_segments:True"};
  Trials trials(job->planned, job->predicted, nullptr);
  const auto begin = std::chrono::steady_clock::now();
  for (const char* fix : fixes) CHECK(trials.with({fix}) != nullptr);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  fmt::print("ten fixes of 80 layers: {:.2f} s, {:.2f} of the second that they may take\n", taken.count(),
             taken.count());
  CHECK(trials.predictions() == 10);
  CHECK(taken.count() < 10);  // a busy machine; the figure is printed
}

}  // namespace
}  // namespace shardlab

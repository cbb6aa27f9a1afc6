// The optimizer's state on a drive: trained for real, bit by bit as with the state in host memory, and every
// space's live bytes as the plan has them.
#include <c10/core/InferenceMode.h>

#include "engine/execute/torch/memory/memory_ledger.h"
#include "engine/scenario/resolve_device.h"
#include "simulator/simulate.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/training/local_run.h"
#include "tests/training/small_model.h"

namespace shardlab::test {
namespace {

// A vocabulary of which every rank holds more than the MiB from which DeepSpeed swaps, by its sub-groups: the
// embedding, the layers with the head, or all apart.
std::vector<std::string> with_large_vocabulary(std::vector<std::string> more) {
  more.insert(more.begin(), {"model.overrides.vocab_size=9001", "model.overrides.num_hidden_layers=2",
                             "parallel.strategy=zero3", "cluster.ranks=2", "train.clip_norm=1.0"});
  return more;
}

struct Setting {
  std::string name;
  std::vector<std::string> training;  // overrides
  std::string offload;                // beside the optimizer's place
};

std::vector<Setting> settings() {
  const std::string groups = "parallel.zero={sub_group_size: 250000, reduce_bucket_size: 2000000}";
  const std::string small_buckets = "parallel.zero={sub_group_size: 250000, reduce_bucket_size: 600000}";
  const std::string both = ", buffers: 8, pipeline_read: true, pipeline_write: true";
  return {
      {"one sub-group, bfloat16",
       {"parallel.zero={reduce_bucket_size: 2000000}", "precision.param=bfloat16"},
       ""},
      {"several, float32", {groups}, ""},
      {"read ahead", {groups, "precision.param=bfloat16"}, ", buffers: 8, pipeline_read: true"},
      {"written behind", {groups, "precision.param=bfloat16"}, ", buffers: 8, pipeline_write: true"},
      {"both, two micro-batches", {groups, "train.accumulation=2", "train.micro_batch=2"}, both},
      {"parameters in host memory", {small_buckets, "precision.param=bfloat16"}, both + ", parameters: cpu"},
      {"momentum alone",
       {small_buckets, "train.optimizer=sgd", "train.momentum=0.9", "train.weight_decay=0"},
       ""},
      {"checkpointed, frozen layers",
       {groups, "activation.checkpoint=full", "model.frozen=[model.layers.0]"},
       ""},
  };
}

PlannedScenario planned_at(const Setting& setting, const std::string& place, const std::string& path) {
  std::vector<std::string> overrides = with_large_vocabulary(setting.training);
  const bool on_drive = place == "nvme";
  const std::string offload = on_drive                                                  ? setting.offload
                              : setting.offload.find("parameters") != std::string::npos ? ", parameters: cpu"
                                                                                        : "";
  overrides.push_back("offload={optimizer: " + place + offload + "}");
  if (on_drive) overrides.push_back("cluster.nvme.path=" + path);
  return planned_text(k_small_model, overrides);
}

bool has_nothing(const std::filesystem::path& folder) {
  return std::filesystem::is_empty(folder);
}

void check_memory(const PlannedScenario& planned) {
  const Result<Device> device = resolve_device(*planned.scenario.cluster);
  REQUIRE_OK(device);
  const Result<RunTrace> predicted = simulate({planned, *device});
  REQUIRE_OK(predicted);
  std::vector<MemoryLedger> ledgers(2);
  std::vector<RankTrace> measured;
  REQUIRE_OK(run_ranks(
      planned,
      [&](RankExecutor& executor, int rank) -> Status {
        for (int step = 0; step < 3; ++step) {
          SHARDLAB_TRY(RankTrace trace, executor.step());
          if (rank == 0) measured.push_back(std::move(trace));
        }
        return {};
      },
      {}, ledgers));
  const auto compare = [](const std::vector<MemorySample>& expected, const std::vector<MemorySample>& found) {
    REQUIRE(expected.size() == found.size());
    std::size_t equal = 0;
    for (std::size_t i = 0; i < found.size(); ++i)
      equal += expected[i].live == found[i].live && expected[i].elsewhere == found[i].elsewhere;
    CHECK(equal == found.size());
  };
  compare(predicted->warmup.at(1).ranks.at(0).memory, measured.front().memory);
  compare(predicted->steps.at(0).ranks.at(0).memory, measured.back().memory);
  // Something lay on the drive, and in the pool before it.
  const MemorySample& last = measured.back().memory.back();
  CHECK(last.elsewhere[static_cast<std::size_t>(MemorySpace::disk)].value > 1 << 20);
  CHECK(last.elsewhere[static_cast<std::size_t>(MemorySpace::pinned_host)].value > 1 << 20);
}

}  // namespace

TEST_CASE("state on a drive trains bit by bit as state in host memory") {
  install_counting_allocator();
  for (const Setting& setting : settings()) {
    INFO(setting.name);
    const TemporaryFolder drive;
    const Result<Trained> on_host = train(planned_at(setting, "cpu", {}), 3);
    const Result<Trained> on_drive = train(planned_at(setting, "nvme", drive.path().string()), 3);
    REQUIRE_OK(on_host);
    REQUIRE_OK(on_drive);
    CHECK(on_drive->losses == on_host->losses);
    CHECK(bitwise_equal(on_drive->parameters, on_host->parameters));
    CHECK(worst_difference(on_drive->parameters, on_drive->initial).difference > 1e-4);
    for (std::size_t i = 0; i < on_host->gradient_norms.size(); ++i)
      CHECK(on_drive->gradient_norms[i] == Approx(on_host->gradient_norms[i]).epsilon(1e-6));
    CHECK(has_nothing(drive.path()));
  }
}

TEST_CASE("freed and unwritten memory changes nothing where state lies on a drive") {
  install_counting_allocator();
  const TemporaryFolder drive;
  const PlannedScenario planned = planned_at(settings()[4], "nvme", drive.path().string());
  const Result<Trained> plain = train(planned, 3);
  poison_freed_memory(true);
  const Result<Trained> poisoned = train(planned, 3);
  poison_freed_memory(false);
  REQUIRE_OK(plain);
  REQUIRE_OK(poisoned);
  CHECK(poisoned->losses == plain->losses);
  CHECK(bitwise_equal(poisoned->parameters, plain->parameters));
}

TEST_CASE("every space's bytes are accounted where state lies on a drive") {
  install_counting_allocator();
  for (const std::size_t chosen : {0U, 1U, 4U, 5U}) {
    const Setting setting = settings()[chosen];
    INFO(setting.name);
    const TemporaryFolder drive;
    check_memory(planned_at(setting, "nvme", drive.path().string()));
  }
}

}  // namespace shardlab::test

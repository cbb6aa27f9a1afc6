// Phases of a job by hand arithmetic, for tiny-llama on two GPUs.
#include "simulator/memory/life/life_phases.h"

#include <algorithm>

#include "engine/scenario/unsupported.h"
#include "simulator/simulate.h"
#include "tests/catch.h"
#include "tests/unit/simulator/small_scenario.h"

namespace shardlab {
namespace {

constexpr const char* k_two_gpus = "{gpu: H100-SXM, gpus_per_node: 2}";

struct Job {
  PlannedScenario planned;
  RunTrace run;
  Bytes parameters, processes;

  const PhaseMemory& row(LifePhase phase) const {
    return *std::find_if(run.life.begin(), run.life.end(),
                         [&](const PhaseMemory& each) { return each.phase == phase; });
  }
};

Job job_of(const std::string& sections, const std::string& train = "clip_norm: 1.0") {
  Job job{test::small_scenario(sections, train, k_two_gpus), {}, {}, {}};
  auto run = simulate({job.planned, test::device_of(job.planned), nullptr});
  if (!run) throw std::runtime_error(to_string(run.error()));
  job.run = *std::move(run);
  job.parameters = bytes_of(total_parameters(job.planned.graph), DType::float32);
  for (const MemoryOverhead& row : job.run.overheads)
    if (row.where == OverheadPlace::host) job.processes += row.bytes;
  return job;
}

TEST_CASE("every phase has a row, in the order of a job") {
  const Job job = job_of("parallel: {strategy: fsdp2}");
  REQUIRE(job.run.life.size() == k_words<LifePhase>.size());
  for (std::size_t i = 0; i < job.run.life.size(); ++i) {
    CHECK(job.run.life[i].phase == static_cast<LifePhase>(i));
    CHECK(job.run.life[i].host >= job.processes);
    CHECK_FALSE(job.run.life[i].formula.empty());
  }
  CHECK(job.run.life[0].runs);
  CHECK_FALSE(job.row(LifePhase::save_full).asked);
}

TEST_CASE("models in host memory: none on meta, one a rank on cpu, one in all with rank0_broadcast") {
  const auto host = [](const std::string& way) {
    const Job job = job_of("parallel: {strategy: fsdp2, initialization: " + way + "}");
    CHECK(job.row(LifePhase::construct).device == Bytes{});
    CHECK(job.row(LifePhase::construct).runs == (way == "meta"));
    CHECK(check_runs(job.planned.scenario).has_value() == (way == "meta"));
    return (job.row(LifePhase::construct).host - job.processes).value / job.parameters.value;
  };
  CHECK(host("meta") == 0);
  CHECK(host("cpu") == 2);
  CHECK(host("rank0_broadcast") == 1);
}

TEST_CASE("a full checkpoint is gathered on the device, or in host memory") {
  const std::string save = "clip_norm: 1.0, save: {every: 10}";
  const std::string strategy = "parallel: {strategy: fsdp2}\ncheckpoint: {path: /checkpoints";
  const Job device = job_of(strategy + "}", save);
  const PhaseMemory on_device = device.row(LifePhase::save_full);
  const Bytes between = carried_bytes(device.planned.plan.steady);
  CHECK(on_device.asked);
  // Parameters and two moments of them; on the way to the host the largest parameter is there once more.
  std::int64_t largest = 0;
  for (const Parameter& parameter : device.planned.graph.parameters)
    largest = std::max(largest, parameter.elements());
  const Bytes gathered = bytes_of(largest, DType::float32);
  CHECK(on_device.device == between + device.parameters * 3);
  const Job host = job_of(strategy + ", offload_to_cpu: true, rank0_only: false}", save);
  CHECK(host.row(LifePhase::save_full).device == between + gathered);
  CHECK(host.row(LifePhase::save_full).host == host.processes + host.parameters * 6);  // of two ranks
  const Job sharded = job_of(strategy + ", type: sharded}", save);
  CHECK_FALSE(sharded.row(LifePhase::save_full).asked);
  CHECK(sharded.row(LifePhase::save_sharded).asked);
  CHECK(sharded.row(LifePhase::save_sharded).device == between);
}

TEST_CASE("replicas gather nothing to be saved") {
  const Job job = job_of("parallel: {strategy: ddp}");
  CHECK(job.row(LifePhase::save_full).device == carried_bytes(job.planned.plan.steady));
}

TEST_CASE("evaluation keeps nothing for backward") {
  const Job job = job_of("parallel: {strategy: fsdp2}");
  const PhaseMemory& evaluation = job.row(LifePhase::evaluate);
  CHECK(evaluation.device > carried_bytes(job.planned.plan.steady));
  CHECK(evaluation.device < job.row(LifePhase::steady).device);
  // With checkpoints forward keeps the layers' inputs alone, so evaluation is nearly that forward.
  const Job full = job_of("parallel: {strategy: fsdp2}\nactivation: {checkpoint: full}");
  CHECK(full.row(LifePhase::evaluate).device <= full.row(LifePhase::steady).device);
}

}  // namespace
}  // namespace shardlab

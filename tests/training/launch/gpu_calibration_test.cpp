// A calibration of GPUs from end to end, with a processor in their place (tests/rehearsal): benchmarks and
// small runs as on devices, the fit, and a prediction that uses it.
#include "engine/base/paths.h"
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/resolve_device.h"
#include "simulator/calibrate/calibrate.h"
#include "simulator/calibrate/choose_calibration.h"
#include "simulator/simulate.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab::test {
namespace {

CalibrationWork small_work() {
  CalibrationWork work;
  for (const std::int64_t kib : {64, 1024}) work.probes.push_back({"all_gather", {{"bytes", kib << 10}}});
  for (const std::int64_t width : {64, 128})
    work.probes.push_back({"linear.bfloat16", {{"rows", 64}, {"inputs", width}, {"outputs", width}}});
  work.probes.push_back({"rms_norm.bfloat16", {{"rows", 64}, {"width", 64}}});
  work.probe_budget_ms = 10'000;
  work.runs = {{"small", "fsdp2", 64, 176, 32, "precision: {param: bfloat16, reduce: float32}\n"}};
  return work;
}

Result<Calibration> calibrate_rehearsed(const std::string& cluster) {
  const TemporaryFolder folder;
  const CalibrationWork work = small_work();
  CalibrateOptions options;
  options.cluster = cluster;
  options.rank_program = programs_folder().parent_path() / "rehearsal/shardlab-rank-cuda";
  options.folder = folder.path();
  options.work = &work;
  return calibrate(options);
}

}  // namespace

TEST_CASE("GPUs are calibrated, and predictions use it") {
  const Result<Calibration> calibration = calibrate_rehearsed("{gpu: H100-SXM, gpus_per_node: 2}");
  REQUIRE_OK(calibration);
  CHECK(calibration->machine.gpu == "H100-SXM");
  CHECK(calibration->machine.ranks == 2);
  CHECK_THAT(calibration->machine.processor, contains_text("H100"));
  for (const char* name :
       {"matmul.forward.bfloat16.rate", "all_gather.bandwidth", "rms_norm.backward.bfloat16.bandwidth",
        "optimizer.bandwidth", "host.launch", "host.instruction"}) {
    INFO(name);
    REQUIRE(calibration->coefficients.contains(name));
    CHECK(calibration->coefficients.at(name).value > 0);
  }

  const auto scenario = parse_scenario(
      "name: s\nsemantics: {host: shardlab}\nmodel: {config: llama-3.2-1b, sequence_length: 2048}\n"
      "cluster: {gpu: H100-SXM, gpus_per_node: 2}\n"
      "parallel: {strategy: fsdp2}\nprecision: {param: bfloat16}\ntrain: {micro_batch: 1}\n",
      "s.yaml");
  REQUIRE_OK(scenario);
  const auto planned = plan_scenario(*scenario);
  REQUIRE_OK(planned);
  const auto device = resolve_device(*scenario->cluster);
  REQUIRE_OK(device);
  const std::vector<std::string> texts{to_json(*calibration)};
  const auto chosen = choose_calibration(texts, "here", *scenario);
  REQUIRE_OK(chosen);
  REQUIRE(*chosen);
  const auto published = simulate({*planned, *device, nullptr});
  const auto calibrated = simulate({*planned, *device, &**chosen});
  REQUIRE_OK(published);
  REQUIRE_OK(calibrated);
  CHECK(calibrated->provenance.calibrated);
  // A processor is a hundred times slower than the GPU whose place it takes, wherever there is work to do; a
  // step of little work is all launches, which differ less between machines than a busy machine's clock does.
  CHECK(calibrated->steps[0].ranks[0].duration > 3 * published->steps[0].ranks[0].duration);
}

TEST_CASE("a calibration of another GPU than the machine has is refused") {
  const Result<Calibration> calibration = calibrate_rehearsed("{gpu: A100-SXM-80GB, gpus_per_node: 1}");
  REQUIRE_FALSE(calibration);
  CHECK(calibration.error().kind == ErrorKind::bad_input);
  CHECK_THAT(to_string(calibration.error()), contains_text("says A100-SXM-80GB, the machine has H100"));
}

}  // namespace shardlab::test

#include "engine/report/judge_prediction.h"

#include "tests/catch.h"

namespace shardlab {
namespace {

// Steps of 60 GiB on the device, 2 of them CUDA's and NCCL's, which may take 1 more.
RunTrace some_run() {
  RunTrace run;
  run.device_memory.emplace().device_peak = gibibytes(60);
  run.overheads = {{"CUDA", gibibytes(2), gibibytes(2), gibibytes(3), OverheadPlace::device, "", ""}};
  run.life = {{LifePhase::steady, gibibytes(55), gibibytes(10), true, true, ""},
              {LifePhase::save_full, gibibytes(70), gibibytes(90), true, false, ""}};
  return run;
}

TEST_CASE("a phase that the job has must fit beside the libraries") {
  RunTrace run = some_run();
  CHECK(judge_prediction(run, {gibibytes(73), {}}).fit == Fit::yes);
  // 72 of 72 GiB, while CUDA may take one more.
  CHECK(judge_prediction(run, {gibibytes(72), {}}).fit == Fit::unsure);
  CHECK(judge_prediction(run, {gibibytes(72), {}}).reason ==
        "save full takes 72.0 GiB of the device's 72.0 GiB, and libraries may take 1.00 GiB more");
  const FitVerdict verdict = judge_prediction(run, {gibibytes(71), {}});
  CHECK(verdict.fit == Fit::no);
  CHECK(verdict.reason == "save full takes 72.0 GiB of the device's 71.0 GiB");
  run.life[1].asked = false;
  CHECK(judge_prediction(run, {gibibytes(71), {}}).fit == Fit::yes);
}

TEST_CASE("workspaces that libraries have in the allocator stay while the job saves") {
  RunTrace run = some_run();
  run.overheads.push_back(
      {"cuBLAS", gibibytes(1), gibibytes(1), gibibytes(1), OverheadPlace::allocator, "", ""});
  CHECK(judge_prediction(run, {gibibytes(74), {}}).fit == Fit::yes);
  CHECK(judge_prediction(run, {gibibytes(72), {}}).fit == Fit::no);
}

TEST_CASE("what processes take of host memory has a range as well") {
  RunTrace run = some_run();
  run.overheads.push_back(
      {"processes", gibibytes(10), gibibytes(8), gibibytes(14), OverheadPlace::host, "", ""});
  CHECK(judge_prediction(run, {gibibytes(80), gibibytes(94)}).fit == Fit::yes);
  CHECK(judge_prediction(run, {gibibytes(80), gibibytes(93)}).fit == Fit::unsure);
  CHECK(judge_prediction(run, {gibibytes(80), gibibytes(89)}).fit == Fit::no);
}

TEST_CASE("a node's host memory counts where it is known") {
  RunTrace run = some_run();
  CHECK(judge_prediction(run, {gibibytes(80), gibibytes(90)}).fit == Fit::yes);
  const FitVerdict verdict = judge_prediction(run, {gibibytes(80), gibibytes(89)});
  CHECK(verdict.fit == Fit::no);
  CHECK(verdict.reason == "save full takes 90.0 GiB of a node's 89.0 GiB of host memory");
}

TEST_CASE("the steps are judged by how likely they run, and by what the allocator has to do") {
  RunTrace run = some_run();
  run.life.clear();
  run.fit = FitEstimate{.probability = 1, .low = {}, .high = {}};
  const auto judged = [&] { return judge_prediction(run, {gibibytes(61), {}}); };
  CHECK(judged().fit == Fit::yes);
  CHECK_FALSE(judged().reason);
  run.fit->probability = 0.9;
  CHECK(judged().fit == Fit::yes);
  run.fit->probability = 0.8;
  CHECK(judged().fit == Fit::unsure);
  CHECK(judged().reason == "the steps take 60.0 GiB of the device's 61.0 GiB");
  run.fit->probability = 0.1;
  CHECK(judged().fit == Fit::no);
  run.fit->probability = 1;
  run.device_memory->retries = 2;
  CHECK(judged().fit == Fit::unsure);
  CHECK(judged().reason == "2 allocations only after the allocator gave memory back");
  run.device_memory->out_of_memory = 1;
  CHECK(judged().fit == Fit::unsure);
  CHECK(judged().probability == 1);
}

// 60 of 60 GiB run, likely as it may be, only as long as CUDA takes no more: then memory is given back.
TEST_CASE("steps that fill the device are at the edge, however likely they run") {
  RunTrace run = some_run();
  run.life.clear();
  run.fit = FitEstimate{.probability = 0.97, .low = {}, .high = {}};
  const FitVerdict verdict = judge_prediction(run, {gibibytes(60), {}});
  CHECK(verdict.fit == Fit::unsure);
  CHECK(verdict.probability == 0.97);
  CHECK(verdict.reason ==
        "the steps take 60.0 GiB of the device's 60.0 GiB, and libraries may take 1.00 GiB more");
}

TEST_CASE("without an estimate the sum decides") {
  RunTrace run = some_run();
  run.life.clear();
  CHECK(judge_prediction(run, {gibibytes(61), {}}).fit == Fit::yes);
  CHECK(judge_prediction(run, {gibibytes(60), {}}).fit == Fit::unsure);
  CHECK(judge_prediction(run, {gibibytes(59), {}}).fit == Fit::no);
  run.device_memory->out_of_memory = 1;
  CHECK(judge_prediction(run, {gibibytes(60), {}}).fit == Fit::no);
}

}  // namespace
}  // namespace shardlab

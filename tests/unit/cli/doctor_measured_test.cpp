// What the doctor sees in a measured run: runs that are made of a prediction, with one thing changed.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>

#include <fmt/format.h>

#include "engine/cli/doctor/doctor_job.h"
#include "engine/scenario/resolve_device.h"
#include "simulator/simulate.h"
#include "simulator/spread/spread.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_scenario = R"(
name: measured
model: { config: llama-3.2-1b, sequence_length: 1024, overrides: { num_hidden_layers: 4 } }
cluster: { gpu: A100-SXM-80GB, gpus_per_node: 4 }
parallel: { strategy: fsdp2 }
precision: { param: bfloat16, reduce: float32 }
train: { micro_batch: 2, clip_norm: 1.0 }
)";

DoctorJob predicted_job() {
  const fs::path file = fs::temp_directory_path() / fmt::format("shardlab-{}.yaml", std::random_device{}());
  std::ofstream(file) << k_scenario;
  CommonOptions options;
  options.database = (fs::temp_directory_path() / "shardlab-no-such.db").string();
  auto job = job_of_scenario(file.string(), options);
  fs::remove(file);
  REQUIRE(job);
  return *std::move(job);
}

bool is_computation(const DoctorJob& job, const Span& span) {
  const Instruction& instruction = job.planned.plan.steady.instruction(span.instruction);
  return instruction.stream == StreamId{0} && !is_collective(instruction.kind) &&
         !is_host_only(instruction.kind);
}

bool is_communication(const DoctorJob& job, const Span& span) {
  return is_collective(job.planned.plan.steady.instruction(span.instruction).kind);
}

// What was predicted as if it had been measured, on two ranks over some steps.
void measure(DoctorJob& job, int steps = 4) {
  job.measured = job.predicted;
  job.measured->kind = RunKind::measured;
  job.measured_trace.emplace();
  StepTrace step = job.trace.steps.back();
  step.ranks.push_back(step.ranks.front());
  step.ranks.back().rank = 1;
  for (int i = 0; i < steps; ++i) {
    step.step = i;
    job.measured_trace->steps.push_back(step);
  }
}

template <typename Which>
void stretch(DoctorJob& job, std::size_t rank, double factor, Which which) {
  for (StepTrace& step : job.measured_trace->steps) {
    for (Span& span : step.ranks[rank].spans) {
      if (!which(job, span)) continue;
      const double length = static_cast<double>((span.end - span.start).value);
      span.end = span.start + Nanoseconds{std::llround(length * factor)};
    }
  }
}

const Finding* found(const Examination& examination, std::string_view rule) {
  const auto finding = std::find_if(examination.findings.begin(), examination.findings.end(),
                                    [&](const Finding& each) { return each.rule == rule; });
  return finding == examination.findings.end() ? nullptr : &*finding;
}

bool warns(const DoctorJob& job, std::string_view rule) {
  const Examination examination = examine_job(job, {}, {}).value();
  const Finding* const finding = found(examination, rule);
  if (finding != nullptr) UNSCOPED_INFO(finding->message);
  return finding != nullptr && finding->severity != Severity::info;
}

TEST_CASE("a rank that computes 15 % longer is named, one that computes 5 % longer is not") {
  DoctorJob job = predicted_job();
  measure(job);
  CHECK_FALSE(warns(job, "data/unbalanced"));
  stretch(job, 1, 1.05, is_computation);
  CHECK_FALSE(warns(job, "data/unbalanced"));
  stretch(job, 1, 1.10, is_computation);
  const Examination examination = examine_job(job, {}, {}).value();
  const Finding* const finding = found(examination, "data/unbalanced");
  REQUIRE(finding != nullptr);
  CHECK(finding->severity == Severity::warning);
  CHECK(finding->ranks == std::vector<int>{1});
}

// What the simulator says of ranks of which one has a slow device, as if it had been measured.
void measure_with_slow_rank(DoctorJob& job, int rank, double speed) {
  Spread spread;
  spread.speeds[rank] = speed;
  const Device device = resolve_device(*job.planned.scenario.cluster).value();
  const RunTrace all = simulate({job.planned, device, nullptr, &spread}).value();
  measure(job, 1);
  job.measured_trace->steps = {all.steps.back()};
}

TEST_CASE("a slow device is named, though the others compute as slowly beside collectives that wait for it") {
  DoctorJob job = predicted_job();
  measure_with_slow_rank(job, 2, 0.97);
  CHECK_FALSE(warns(job, "data/unbalanced"));
  measure_with_slow_rank(job, 2, 0.8);
  const Examination examination = examine_job(job, {}, {}).value();
  const Finding* const finding = found(examination, "data/unbalanced");
  REQUIRE(finding != nullptr);
  CHECK(finding->severity == Severity::warning);
  CHECK(finding->ranks == std::vector<int>{2});
}

TEST_CASE("collectives that are slow on every rank are the links', on one rank they wait") {
  DoctorJob job = predicted_job();
  measure(job);
  stretch(job, 0, 2.0, is_communication);
  CHECK_FALSE(warns(job, "network/slow-links"));  // the other rank came later
  stretch(job, 1, 1.3, is_communication);
  CHECK_FALSE(warns(job, "network/slow-links"));
  stretch(job, 1, 1.3, is_communication);
  CHECK(warns(job, "network/slow-links"));
}

TEST_CASE("a run of another plan than today's is not compared") {
  DoctorJob job = predicted_job();
  measure(job);
  stretch(job, 0, 3.0, is_communication);
  stretch(job, 1, 3.0, is_communication);
  job.measured->plan_hash = "another";
  CHECK_FALSE(warns(job, "network/slow-links"));
}

TEST_CASE("memory that grows from step to step is told with its rank") {
  DoctorJob job = predicted_job();
  measure(job, 16);
  CHECK_FALSE(warns(job, "memory/tensors-kept"));
  for (StepTrace& step : job.measured_trace->steps)
    step.ranks[1].memory.front().live += Bytes{step.step * mebibytes(200).value};
  CHECK(warns(job, "memory/tensors-kept"));
}

TEST_CASE("retries of the allocator are told") {
  DoctorJob job = predicted_job();
  measure(job);
  job.measured->memory->allocator_retries = 0;
  CHECK_FALSE(warns(job, "memory/fragmentation"));
  job.measured->memory->allocator_retries = 3;
  CHECK(warns(job, "memory/fragmentation"));
}

TEST_CASE("figures of the training are told: where NaN began, a loss that rose, norms that exploded") {
  DoctorJob job = predicted_job();
  measure(job);
  job.measured->losses = {4, 3.5, 3, 2.9, 2.8, 2.7, 2.6, 2.5};
  job.measured->gradient_norms.assign(20, 1.0);
  CHECK_FALSE(warns(job, "numerics/non-finite-gradient"));
  CHECK_FALSE(warns(job, "numerics/learning-rate"));
  CHECK_FALSE(warns(job, "numerics/exploding-gradients"));
  for (const double loss : {4.0, 4.5, 5.0, 6.0}) job.measured->losses.push_back(loss);
  CHECK(warns(job, "numerics/learning-rate"));
  job.measured->losses.push_back(std::numeric_limits<double>::quiet_NaN());
  CHECK(warns(job, "numerics/non-finite-gradient"));
  CHECK_FALSE(warns(job, "numerics/exploding-gradients"));
  job.measured->gradient_norms.push_back(50);
  CHECK(warns(job, "numerics/exploding-gradients"));  // one, and the loss is lost
}

TEST_CASE("steps that a scaled loss skips are told from a tenth of them on") {
  DoctorJob job = predicted_job();
  measure(job);
  job.measured->losses.assign(100, 2.0);
  job.measured->skipped_steps = 10;
  CHECK_FALSE(warns(job, "precision/float16-overflow"));
  job.measured->skipped_steps = 11;
  CHECK(warns(job, "precision/float16-overflow"));
}

}  // namespace
}  // namespace shardlab

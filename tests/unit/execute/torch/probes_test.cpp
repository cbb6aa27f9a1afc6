// The micro-benchmarks run, and say what the cost terms expect.
#include <algorithm>
#include <map>

#include "engine/execute/torch/probes/run_probes.h"
#include "tests/catch.h"
#include "tests/unit/execute/torch/virtual_gpu.h"

namespace shardlab {
namespace {

std::map<std::string, ProbeMeasurement> run(const std::vector<ProbeCase>& cases) {
  std::map<std::string, ProbeMeasurement> found;
  const Status status = run_probes({}, {60'000, cases}, [&](const ProbeMeasurement& measurement) -> Status {
    found[measurement.probe] = measurement;
    return {};
  });
  REQUIRE_OK(status);
  return found;
}

TEST_CASE("every operator is measured forward and backward in both dtypes") {
  for (const std::string dtype : {"float32", "bfloat16"}) {
    const auto found = run({{"linear." + dtype, {{"rows", 8}, {"inputs", 16}, {"outputs", 24}}},
                            {"attention." + dtype,
                             {{"batch", 2}, {"sequence", 8}, {"heads", 4}, {"kv_heads", 2}, {"head_dim", 8}}},
                            {"rms_norm." + dtype, {{"rows", 8}, {"width", 16}}},
                            {"add." + dtype, {{"rows", 8}, {"width", 16}}},
                            {"swiglu." + dtype, {{"rows", 8}, {"width", 16}}},
                            {"layer_norm." + dtype, {{"rows", 8}, {"width", 16}}},
                            {"gelu." + dtype, {{"rows", 8}, {"width", 16}}},
                            {"geglu." + dtype, {{"rows", 8}, {"width", 16}}},
                            {"soft_cap." + dtype, {{"rows", 8}, {"width", 16}}},
                            {"cast." + dtype, {{"rows", 8}, {"width", 16}}},
                            {"rope." + dtype, {{"batch", 2}, {"sequence", 8}, {"heads", 2}, {"head_dim", 8}}},
                            {"embedding." + dtype, {{"rows", 8}, {"width", 16}, {"vocabulary", 32}}},
                            {"cross_entropy." + dtype, {{"rows", 8}, {"width", 1}, {"vocabulary", 32}}}});
    // A sum passes its gradient on and has no backward work.
    CHECK(found.size() == 3 + 2 * 11 + 1);
    for (const auto& [probe, measurement] : found) {
      INFO(probe);
      CHECK(measurement.samples.size() >= 3);
      CHECK(*std::min_element(measurement.samples.begin(), measurement.samples.end()) > 0);
    }
    CHECK(found.at("matmul.forward." + dtype).shape == ProbeShape{{"m", 8}, {"n", 24}, {"k", 16}});
    CHECK(found.at("matmul.input_gradient." + dtype).shape == ProbeShape{{"m", 8}, {"n", 16}, {"k", 24}});
    CHECK(found.at("matmul.weight_gradient." + dtype).shape == ProbeShape{{"m", 24}, {"n", 16}, {"k", 8}});
    // Read and written once: 2 * 8 * 16 elements.
    CHECK(found.at("rms_norm.forward." + dtype).shape.at("bytes") ==
          2 * 8 * 16 * (dtype == "float32" ? 4 : 2));
  }
}

TEST_CASE("allocations are timed one by one") {
  const auto found = run({{"allocation", {{"bytes", 4096}}}});
  REQUIRE(found.count("host.allocation") == 1);
  for (const std::int64_t ns : found.at("host.allocation").samples) CHECK((ns > 0 && ns < 1'000'000));
}

// A communicator of two for barriers: this rank is alone and waits for nobody.
TEST_CASE("collectives of a device are measured without the host's way to them") {
  test::VirtualGpu gpu(Nanoseconds{40'000});
  test::VirtualBackend backend(gpu);
  test::VirtualCommunicator data(gpu, Nanoseconds{20'000});
  class Alone : public test::VirtualCommunicator {
   public:
    using VirtualCommunicator::VirtualCommunicator;
    std::unique_ptr<Pending> broadcast(const at::Tensor&, int) override { return std::make_unique<Done>(); }

   private:
    struct Done : Pending {
      void wait() override {}
      Nanoseconds began_at() const override { return {}; }
      Nanoseconds completed_at() const override { return {}; }
    };
  } control(gpu, Nanoseconds{});
  std::map<std::string, ProbeMeasurement> found;
  const Status status =
      run_probes({&control, &data, &backend},
                 {60'000, {{"all_gather", {{"bytes", 262'144}}}, {"pairs", {{"bytes", 262'144}}}}},
                 [&](const ProbeMeasurement& measurement) -> Status {
                   found[measurement.probe] = measurement;
                   return {};
                 });
  REQUIRE_OK(status);
  for (const char* probe : {"all_gather", "pair"}) {
    INFO(probe);
    REQUIRE(found.count(probe) == 1);
    for (const std::int64_t ns : found.at(probe).samples) CHECK(ns == 20'000);
  }
}

TEST_CASE("unknown probes and incomplete shapes are refused") {
  const auto ignore = [](const ProbeMeasurement&) -> Status { return {}; };
  CHECK(run_probes({}, {1000, {{"warp.float32", {}}}}, ignore).error().kind == ErrorKind::bad_input);
  // An operator that calibrations do not measure, and one that is measured as another is.
  CHECK(run_probes({}, {1000, {{"top_k.float32", {{"rows", 8}, {"width", 4}}}}}, ignore).error().kind ==
        ErrorKind::bad_input);
  CHECK(run_probes({}, {1000, {{"linear_add.float32", {{"rows", 8}, {"width", 4}}}}}, ignore).error().kind ==
        ErrorKind::bad_input);
  CHECK(run_probes({}, {1000, {{"linear.float32", {{"rows", 8}}}}}, ignore).error().kind ==
        ErrorKind::bad_input);
}

TEST_CASE("no case starts after the budget") {
  int measured = 0;
  const Status status =
      run_probes({}, {0, {{"add.float32", {{"rows", 8}, {"width", 16}}}}}, [&](const auto&) -> Status {
        ++measured;
        return {};
      });
  REQUIRE_OK(status);
  CHECK(measured == 0);
}

}  // namespace
}  // namespace shardlab

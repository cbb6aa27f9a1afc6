#include "simulator/calibrate/calibration.h"

#include "tests/catch.h"

namespace shardlab {
namespace {

Calibration example() {
  Calibration calibration;
  calibration.machine = {"Xeon \"Gold\"", 8, 2, 4, "2.11.0", ""};
  calibration.when = "2026-01-31T12:00:00Z";
  calibration.duration_ns = 27'000'000'000;
  calibration.coefficients["matmul.forward.float32.rate"] = {61.25e9, "FLOP/s"};
  calibration.coefficients["all_gather.latency"] = {1.0 / 3, "ns"};
  calibration.probes.push_back(
      {"all_gather", {{"bytes", 4096}, {"ranks", 2}}, {210'000, 190'000}, 200'000, 201'000.5});
  calibration.versions = {{"torch", "2.11.0"}, {"kernel", "6.1"}};
  calibration.id = calibration_id(calibration);
  return calibration;
}

TEST_CASE("a calibration survives its JSON") {
  const Calibration calibration = example();
  const auto read = calibration_from_json(to_json(calibration), "calibration");
  REQUIRE_OK(read);
  CHECK(*read == calibration);
  CHECK(read->probes[0].error() == Approx(0.0050025));
}

TEST_CASE("a calibration of several nodes says so; of one node nothing is written") {
  Calibration calibration = example();
  CHECK_THAT(to_json(calibration), !test::contains_text("nodes"));
  calibration.machine.nodes = 2;
  const auto read = calibration_from_json(to_json(calibration), "calibration");
  REQUIRE_OK(read);
  CHECK(read->machine.nodes == 2);
}

TEST_CASE("the id is the hash of the content") {
  Calibration calibration = example();
  CHECK(calibration_id(calibration) == calibration.id);
  calibration.coefficients["all_gather.latency"].value += 1e-9;
  CHECK(calibration_id(calibration) != calibration.id);
}

TEST_CASE("what is no calibration is refused") {
  for (const char* text : {"", "{", "[]", "{}", R"({"format": 2})", R"({"format": 1, "machine": 3})"}) {
    const auto read = calibration_from_json(text, "runs.db");
    INFO(text);
    REQUIRE_FALSE(read);
    CHECK(read.error().kind == ErrorKind::bad_input);
    CHECK(where_text(read.error()) == "runs.db");
  }
}

TEST_CASE("a calibration whose numbers do not fit is refused, not cut") {
  const std::string good = to_json(example());
  for (const auto& [from, to] : {std::pair{"\"cores\": 8", "\"cores\": 1e300"},
                                 {"\"cores\": 8", "\"cores\": 4294967304"},
                                 {"\"ranks\": 2,", "\"ranks\": 2.5,"},
                                 {"190000", "1e300"}}) {
    std::string text = good;
    INFO(to);
    REQUIRE(text.find(from) != std::string::npos);
    text.replace(text.find(from), std::string(from).size(), to);
    CHECK_FALSE(calibration_from_json(text, "runs.db"));
  }
}

TEST_CASE("a calibration that is nested without end is refused") {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  CHECK_FALSE(calibration_from_json("{\"format\": " + deep + "}", "runs.db"));
}

TEST_CASE("a calibration holds for its own machine only") {
  const MachineFingerprint machine = example().machine;
  CHECK(calibration_mismatch(machine, machine).empty());
  MachineFingerprint other = machine;
  other.ranks = 4;
  CHECK_THAT(calibration_mismatch(machine, other), test::contains_text("ranks 2, not 4"));
  other = machine;
  other.processor = "EPYC";
  CHECK_THAT(calibration_mismatch(machine, other), test::contains_text("EPYC"));
  other = machine;
  other.torch_version = "2.12.0";
  CHECK_FALSE(calibration_mismatch(machine, other).empty());
}

TEST_CASE("a calibration of a GPU holds wherever there is such a GPU") {
  Calibration calibration = example();
  calibration.machine = {"NVIDIA H100 80GB HBM3", 0, 8, 1, "2.11.0", "H100-SXM"};
  calibration.id = calibration_id(calibration);
  const auto read = calibration_from_json(to_json(calibration), "calibration");
  REQUIRE_OK(read);
  CHECK(*read == calibration);
  MachineFingerprint wanted;
  wanted.gpu = "H100-SXM";
  CHECK(calibration_mismatch(calibration.machine, wanted).empty());
  wanted.gpu = "A100-SXM-80GB";
  CHECK_THAT(calibration_mismatch(calibration.machine, wanted),
             test::contains_text("GPU H100-SXM, not A100-SXM-80GB"));
  CHECK_THAT(calibration_mismatch(example().machine, wanted), test::contains_text("GPU (none), not"));

  const Calibration part = without_collectives(calibration);
  CHECK(part.coefficients.contains("matmul.forward.float32.rate"));
  CHECK_FALSE(part.coefficients.contains("all_gather.latency"));
  CHECK(part.probes.empty());
}

TEST_CASE("this machine has a processor and cores") {
  const MachineFingerprint machine = this_machine(2, 1, "2.11.0");
  CHECK_FALSE(machine.processor.empty());
  CHECK(machine.cores >= 1);
}

}  // namespace
}  // namespace shardlab

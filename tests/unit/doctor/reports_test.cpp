#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "engine/doctor/report/findings_report.h"
#include "engine/doctor/report/rules_report.h"
#include "tests/unit/doctor/log_blocks.h"

namespace shardlab {
namespace {

constexpr const char* k_log =
    "step 1\n[rank2]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n";

TEST_CASE("docs/rules.md is what the rules say") {
  std::ifstream file(test::source_folder() / "docs/rules.md");
  std::stringstream committed;
  committed << file.rdbuf();
  const bool same = committed.str() == rules_page();
  INFO("shardlab doctor --document > docs/rules.md");
  CHECK(same);
}

TEST_CASE("the first finding says what, on which rank, where, why and what to do") {
  const std::string text = findings_text({test::examine_text(k_log)}, false);
  CHECK(
      text.starts_with("error on rank 2: An allocation of 2.00 GiB failed. [C-01 memory/allocation-failed]\n"
                       "  seen in log line 2, rank 2: [rank2]: torch.OutOfMemoryError"));
  const std::size_t why = text.find("\n  why: "), fix = text.find("\n  fix: ");
  CHECK(why != std::string::npos);
  CHECK((fix != std::string::npos && why < fix));
  CHECK(text.find("2 errors, 0 warnings") != std::string::npos);
}

TEST_CASE("a sign with its own next step is not explained by its rule") {
  const std::string text = findings_text(
      {test::examine_text("ImportError: libtorch_cuda.so: undefined symbol: ncclCommRegister\n")}, false);
  CHECK(text.find("built for another version") != std::string::npos);
  CHECK(text.find("  why: ") == std::string::npos);
}

TEST_CASE("general words of NCCL are no finding beside the reason that follows them") {
  const std::string text = findings_text(
      {test::examine_text(
          "[rank0]: torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:275, unhandled system "
          "error\n[rank0]: ncclSystemError: System call or external library call failed.\n"
          "[rank0]: Last error:\n[rank0]: Error while creating shared memory segment "
          "/dev/shm/nccl-9D6bNG\n")},
      false);
  CHECK(text.find("Y-05") != std::string::npos);
  CHECK(text.find("D-02") == std::string::npos);
}

TEST_CASE("a file that still does not fit is not called fixed") {
  Cost before, after;
  before.fits = after.fits = false;
  before.too_much = gibibytes(30);
  after.too_much = gibibytes(3);
  FixReport report{"fixed.yaml", {"train.micro_batch=1"}, {"memory/batch-too-large"}, {before, after}};
  std::string text = fix_text(report);
  CHECK(text.starts_with(
      "fixed.yaml is written, with the fixes of memory/batch-too-large, and still does not fit\n"));
  CHECK(text.find(", does not fit: still 3.00 GiB too much\n") != std::string::npos);
  CHECK(fix_json(report)["effect"]["after"]["too_much"] == gibibytes(3).value);
  report.set.clear();
  report.rules.clear();
  CHECK(fix_text(report) == "fixed.yaml is written as it was, and does not fit\n");
  report.effect.after.fits = true;
  report.effect.after.too_much.reset();
  CHECK(fix_text(report) == "fixed.yaml is written; there was nothing to fix\n");
  CHECK(fix_json(report)["effect"]["after"]["too_much"].is_null());
}

TEST_CASE("SARIF names rules by index and lines by number") {
  const auto sarif = findings_sarif({test::examine_text(k_log)});
  CHECK(sarif["version"] == "2.1.0");
  const auto& run = sarif["runs"][0];
  const auto& result = run["results"][0];
  CHECK(run["tool"]["driver"]["rules"][result["ruleIndex"].get<std::size_t>()]["id"] == result["ruleId"]);
  CHECK(result["level"] == "error");
  CHECK(result["locations"][0]["physicalLocation"]["region"]["startLine"] == 2);
}

TEST_CASE("JSON says what was skipped, and why") {
  const auto json = findings_json({test::examine_text(k_log)});
  CHECK(json["findings"][0]["codes"][0] == "C-01");
  CHECK(json["findings"][0]["effect"].is_null());
  bool advice = false, unchecked = false;
  for (const auto& skipped : json["skipped"]) {
    advice |= skipped["why"] == "is advice, which nothing looks for";
    unchecked |= skipped["why"] == "is not checked yet";
  }
  CHECK((advice && unchecked));
}

}  // namespace
}  // namespace shardlab

// Plans as hostile databases hold them: short texts that ask for much.
#include <string>

#include "engine/plan/text.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

constexpr const char* k_head = "plan 1\nstream compute\n";

std::string buffer_of(const std::string& parameters, int index = 0) {
  return "buffer b" + std::to_string(index) + " parameter float32 x 1 device on compute of " + parameters +
         "\n";
}

std::string complaint(const std::string& text) {
  const auto plan = parse_plan(text, "p.txt");
  return plan ? "none" : to_string(plan.error());
}

TEST_CASE("a range that ends at the last number ends") {
  const auto plan = parse_plan(k_head + buffer_of("4294967294..4294967295"), "p.txt");
  REQUIRE_OK(plan);
  CHECK(plan->buffers[0].parameters ==
        std::vector<ParameterId>{ParameterId{4294967294u}, ParameterId{4294967295u}});
}

TEST_CASE("ranges are counted over the whole plan") {
  CHECK(complaint(k_head + buffer_of("0..10000000")).find("more parameters than any plan") !=
        std::string::npos);
  CHECK(complaint(k_head + buffer_of("5..4")).find("bad range '5..4'") != std::string::npos);
  std::string text = k_head;
  for (int i = 0; i < 9; ++i) text += buffer_of("0..999999", i);
  CHECK(complaint(text).find("p.txt:11: with '0..999999' buffers hold more") == 0);
}

TEST_CASE("a name stands for one thing, and a long one is not shown whole") {
  CHECK(complaint(std::string(k_head) + "stream compute\n").find("p.txt:3: stream 'compute' twice") == 0);
  CHECK(complaint(k_head + std::string(100'000, 'x')).size() < 200);
}

}  // namespace
}  // namespace shardlab

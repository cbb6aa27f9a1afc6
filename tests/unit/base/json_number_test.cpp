#include "engine/base/json_number.h"

#include <nlohmann/json.hpp>

#include "tests/catch.h"

namespace shardlab {
namespace {

using Json = nlohmann::json;

TEST_CASE("whole numbers of JSON come out as they are, or not at all") {
  CHECK(json_number<int>(Json::parse("-7")) == -7);
  CHECK(json_number<std::uint32_t>(Json::parse("4294967295")) == 4294967295U);
  CHECK(json_number<std::int64_t>(Json::parse("-9223372036854775808")) == INT64_MIN);
  CHECK(json_number<std::uint64_t>(Json::parse("9223372036854775807")) == INT64_MAX);
  CHECK(json_number<int>(Json::parse("3.0")) == 3);
  CHECK(json_number<int>(nlohmann::ordered_json::parse("3")) == 3);
  for (const char* text :
       {"2147483648", "-2147483649", "2.5", "1e300", "-1e300", "true", "null", "\"3\"", "[3]"}) {
    INFO(text);
    CHECK_THROWS_AS(json_number<int>(Json::parse(text)), Json::exception);
  }
  CHECK_THROWS_AS(json_number<std::uint32_t>(Json::parse("-1")), Json::exception);
  CHECK_THROWS_AS(json_number<std::int64_t>(Json::parse("9223372036854775808")), Json::exception);
  CHECK_THROWS_AS(json_number<std::int64_t>(Json::parse("9223372036854775808.0")), Json::exception);
}

TEST_CASE("lists and objects of numbers hold nothing else") {
  CHECK(json_numbers<int>(Json::parse("[1, 2]")) == std::vector<int>{1, 2});
  CHECK(json_named_numbers<int>(Json::parse(R"({"a": 1})")) == std::map<std::string, int>{{"a", 1}});
  CHECK_THROWS_AS(json_numbers<int>(Json::parse("{}")), Json::exception);
  CHECK_THROWS_AS(json_numbers<int>(Json::parse("[1, 1e300]")), Json::exception);
  CHECK_THROWS_AS(json_named_numbers<int>(Json::parse("[]")), Json::exception);
}

}  // namespace
}  // namespace shardlab

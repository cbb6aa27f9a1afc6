#include "engine/base/json_depth.h"

#include <string>

#include "engine/base/error_json.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') +
         std::string(static_cast<std::size_t>(depth), ']');
}

TEST_CASE("brackets within each other are counted, those beside each other and in texts are not") {
  CHECK_FALSE(is_json_too_deep(""));
  CHECK_FALSE(is_json_too_deep(nested(k_deepest_json)));
  CHECK(is_json_too_deep(nested(k_deepest_json + 1)));
  std::string beside = "[1";
  for (int i = 0; i < 2 * k_deepest_json; ++i) beside += ",{}";
  CHECK_FALSE(is_json_too_deep(beside + "]"));
  CHECK_FALSE(is_json_too_deep(R"({"a\"[": ")" + std::string(2 * k_deepest_json, '[') + "\\\\\"}"));
  CHECK(is_json_too_deep(R"({"a\\": )" + nested(k_deepest_json) + "}"));
}

TEST_CASE("values are counted wherever they stand, but for those in texts") {
  CHECK_FALSE(is_json_too_large("", 3));
  CHECK_FALSE(is_json_too_large("[1,2]", 3));
  CHECK(is_json_too_large("[1,2,3]", 3));
  CHECK(is_json_too_large("[[],[]]", 3));
  CHECK(is_json_too_large(R"({"a":{},"b":1})", 3));
  CHECK_FALSE(is_json_too_large(R"(["a,b,c,[,{,\",,"])", 3));
  CHECK_FALSE(is_json_too_large(std::string(100, '\0'), 3));
}

TEST_CASE("members are counted of each object for itself") {
  const auto object = [](std::size_t members) {
    std::string text = "{";
    for (std::size_t i = 0; i < members; ++i) text += (i > 0 ? ",\"k" : "\"k") + std::to_string(i) + "\":[]";
    return text + "}";
  };
  CHECK_FALSE(has_too_many_members(""));
  CHECK_FALSE(has_too_many_members(object(k_most_ordered_members)));
  CHECK(has_too_many_members(object(k_most_ordered_members + 1)));
  CHECK(has_too_many_members("[{\"a\": " + object(k_most_ordered_members + 1)));
  std::string beside = "[";
  for (int i = 0; i < 3; ++i) beside += object(k_most_ordered_members) + ",";
  CHECK_FALSE(has_too_many_members(beside + "1]"));
  CHECK_FALSE(has_too_many_members("}}}]" + std::string(5000, ':')));
  CHECK(parse_error_json(object(200'000)).what.empty());
}

TEST_CASE("errors within errors without end say nothing") {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += R"({"kind":"bad_input","parts":[)";
  CHECK(parse_error_json(text).parts.empty());
  for (int i = 0; i < 100'000; ++i) text += "]}";
  CHECK(parse_error_json(text).parts.empty());
}

}  // namespace
}  // namespace shardlab

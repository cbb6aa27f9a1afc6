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

TEST_CASE("errors within errors without end say nothing") {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += R"({"kind":"bad_input","parts":[)";
  CHECK(parse_error_json(text).parts.empty());
  for (int i = 0; i < 100'000; ++i) text += "]}";
  CHECK(parse_error_json(text).parts.empty());
}

}  // namespace
}  // namespace shardlab

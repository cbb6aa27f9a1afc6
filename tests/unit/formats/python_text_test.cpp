#include "engine/formats/script/python_text.h"

#include <nlohmann/json.hpp>

#include "tests/catch.h"

namespace shardlab {
namespace {

TEST_CASE("python text: values as Python writes them") {
  CHECK(python_literal(ToolValue::parse(R"({"a": true, "b": [1, null, "x\"y"], "c": {}})")) ==
        "{\n    \"a\": True,\n    \"b\": [1, None, \"x\\\"y\"],\n    \"c\": {},\n}");
  CHECK(python_literal(ToolValue(1e-5)) == "1e-05");
}

TEST_CASE("python text: places are filled, and what fills them is not looked at again") {
  CHECK(filled("a @X@ b @X@@Y@", {{"X", "@X@"}, {"Y", "2"}}) == "a @X@ b @X@2");
}

TEST_CASE("python text: lines are indented, empty ones are not") {
  CHECK(indented("a\n\n  b\n", 4) == "    a\n\n      b\n");
  CHECK(joined_arguments({"", "a", "", "b=1"}) == "a, b=1");
}

}  // namespace
}  // namespace shardlab

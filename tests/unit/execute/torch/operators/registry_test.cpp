#include <algorithm>

#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/model/operators/operator_type.h"
#include "tests/catch.h"

namespace shardlab {

TEST_CASE("every described operator has an implementation, and the other way round") {
  for (const OperatorType* type : operator_types()) {
    INFO(type->name);
    REQUIRE(find_implementation(type->name) != nullptr);
    CHECK(find_implementation(type->name)->name == type->name);
  }
  CHECK(operator_implementations().size() == operator_types().size());
  CHECK(find_implementation("no such operator") == nullptr);
}

}  // namespace shardlab

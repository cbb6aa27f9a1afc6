#include "engine/execute/torch/operators/aten/device_operators.h"
#include "engine/execute/torch/operators/implementation_list.h"
#include "engine/model/operators/operator_type.h"
#include "tests/catch.h"

namespace shardlab {

TEST_CASE("every described operator has an implementation for hosts and one for devices") {
  for (const OperatorType* type : operator_types()) {
    INFO(type->name);
    for (const auto find : {find_implementation, find_device_implementation}) {
      const OperatorImplementation* found = find(type->name);
      REQUIRE(found != nullptr);
      CHECK(found->forward != nullptr);
      CHECK(found->backward != nullptr);
    }
  }
  CHECK(find_implementation("no such operator") == nullptr);
  CHECK(find_device_implementation("no such operator") == nullptr);
}

TEST_CASE("devices run an implementation of their own where the list says so") {
  CHECK(find_implementation("rope") == &k_rope_implementation);
  CHECK(find_device_implementation("rope") == &k_device_rope);
  CHECK(find_device_implementation("add") == &k_add_implementation);
}

}  // namespace shardlab

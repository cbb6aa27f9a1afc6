#include <algorithm>

#include "engine/execute/torch/operators/aten/device_operators.h"
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

TEST_CASE("every operator has an implementation for devices, and the other way round") {
  std::vector<std::string_view> on_hosts, on_devices;
  for (const OperatorImplementation* one : operator_implementations()) on_hosts.push_back(one->name);
  for (const OperatorImplementation* one : device_operator_implementations()) on_devices.push_back(one->name);
  CHECK(on_devices == on_hosts);
  for (const std::string_view name : on_devices) {
    INFO(name);
    REQUIRE(find_device_implementation(name) != nullptr);
    CHECK(find_device_implementation(name)->name == name);
  }
  CHECK(find_device_implementation("no such operator") == nullptr);
}

}  // namespace shardlab

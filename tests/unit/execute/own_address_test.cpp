#include "engine/execute/machine.h"

#include "tests/catch.h"

namespace shardlab {
namespace {

TEST_CASE("towards itself a host has its loopback address") {
  CHECK(own_address_towards("127.0.0.1", 29500) == "127.0.0.1");
  CHECK_FALSE(own_address_towards("localhost", 29500).empty());
}

TEST_CASE("towards an unknown name a host has none") {
  CHECK(own_address_towards("no.such.host.invalid", 29500) == "");
}

}  // namespace
}  // namespace shardlab

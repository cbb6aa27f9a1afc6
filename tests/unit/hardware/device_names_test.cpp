#include "engine/hardware/catalogue.h"

#include "tests/catch.h"

namespace shardlab {
namespace {

TEST_CASE("drivers' names of devices are recognized") {
  CHECK(is_device_called("H100-SXM", "NVIDIA H100 80GB HBM3"));
  CHECK(is_device_called("H200-SXM", "NVIDIA H200"));
  CHECK(is_device_called("A100-SXM-80GB", "NVIDIA A100-SXM4-80GB"));
  CHECK(is_device_called("RTX4090", "NVIDIA GeForce RTX 4090"));
  CHECK(is_device_called("V100-SXM-16GB", "Tesla V100-SXM2-16GB"));
  CHECK(is_device_called("A6000", "NVIDIA RTX A6000"));
  CHECK(is_device_called("MI300X", "AMD Instinct MI300X"));
  CHECK_FALSE(is_device_called("A10", "NVIDIA A100-SXM4-80GB"));
  CHECK_FALSE(is_device_called("H100-SXM", "NVIDIA H200"));
  CHECK_FALSE(is_device_called("H200-SXM", "NVIDIA GH200 480GB"));
  CHECK_FALSE(is_device_called("L4", "NVIDIA L40S"));
}

}  // namespace
}  // namespace shardlab

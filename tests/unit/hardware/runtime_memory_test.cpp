#include "engine/hardware/runtime_memory.h"

#include "tests/catch.h"

namespace shardlab {

TEST_CASE("runtime memory: constants of libraries, each with its source") {
  const auto memory = read_runtime_memory();
  REQUIRE_OK(memory);
  CHECK(memory->context_low < memory->context);
  CHECK(memory->context < memory->context_high);
  CHECK(memory->cublas_before_hopper.value == 8 * (1 << 20) + 128 * 1024);  // :4096:2:16:8, in KiB
  CHECK(memory->nccl.simple_buffer == mebibytes(4));
  CHECK(memory->nccl.ll_buffer.value == 8 * 512 * 8 * 16);      // lines x threads x steps x bytes
  CHECK(memory->nccl.ll128_buffer.value == 120 * 640 * 8 * 8);  // elements x threads x steps x bytes
  CHECK(memory->nccl.channels_hopper == 24);
  CHECK_FALSE(memory->source("cuda.context").empty());
  CHECK(memory->source("cuda.contxt").empty());
}

}  // namespace shardlab

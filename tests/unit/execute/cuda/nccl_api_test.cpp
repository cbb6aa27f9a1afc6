// What is declared of NCCL is what its own header declares, and the real library is found.
#include "engine/execute/nccl/nccl_api.h"

#include <nccl.h>

#include <type_traits>

#include "engine/execute/nccl/nccl_library.h"
#include "engine/execute/torch/device_runtime.h"
#include "tests/catch.h"

namespace shardlab {

#define SHARDLAB_SAME(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs))
SHARDLAB_SAME(nccl::Outcome::success, ncclSuccess);
SHARDLAB_SAME(nccl::Outcome::unhandled_cuda_error, ncclUnhandledCudaError);
SHARDLAB_SAME(nccl::Outcome::system_error, ncclSystemError);
SHARDLAB_SAME(nccl::Outcome::internal_error, ncclInternalError);
SHARDLAB_SAME(nccl::Outcome::invalid_argument, ncclInvalidArgument);
SHARDLAB_SAME(nccl::Outcome::invalid_usage, ncclInvalidUsage);
SHARDLAB_SAME(nccl::Outcome::remote_error, ncclRemoteError);
SHARDLAB_SAME(nccl::Outcome::in_progress, ncclInProgress);
SHARDLAB_SAME(nccl::Element::int8, ncclInt8);
SHARDLAB_SAME(nccl::Element::uint8, ncclUint8);
SHARDLAB_SAME(nccl::Element::int32, ncclInt32);
SHARDLAB_SAME(nccl::Element::int64, ncclInt64);
SHARDLAB_SAME(nccl::Element::float16, ncclFloat16);
SHARDLAB_SAME(nccl::Element::float32, ncclFloat32);
SHARDLAB_SAME(nccl::Element::float64, ncclFloat64);
SHARDLAB_SAME(nccl::Element::bfloat16, ncclBfloat16);
SHARDLAB_SAME(nccl::Reduction::sum, ncclSum);
SHARDLAB_SAME(nccl::Reduction::product, ncclProd);
SHARDLAB_SAME(nccl::Reduction::maximum, ncclMax);
SHARDLAB_SAME(nccl::Reduction::minimum, ncclMin);
SHARDLAB_SAME(nccl::Reduction::average, ncclAvg);
#undef SHARDLAB_SAME
static_assert(sizeof(nccl::UniqueId) == sizeof(ncclUniqueId));
static_assert(std::is_trivially_copyable_v<nccl::UniqueId>);
static_assert(sizeof(nccl::Stream) == sizeof(cudaStream_t));

TEST_CASE("the configuration of a communicator is the beginning of NCCL's") {
  const ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
  const nccl::Config ours;
  CHECK(offsetof(nccl::Config, magic) == offsetof(ncclConfig_t, magic));
  CHECK(offsetof(nccl::Config, version) == offsetof(ncclConfig_t, version));
  CHECK(offsetof(nccl::Config, blocking) == offsetof(ncclConfig_t, blocking));
  CHECK(ours.magic == theirs.magic);
  CHECK(ours.blocking == theirs.blocking);
  CHECK(ours.size <= theirs.size);
}

TEST_CASE("NCCL of the wheel is found without a driver") {
  const auto nccl = load_nccl();
  REQUIRE_OK(nccl);
  CHECK((*nccl)->version >= 21400);
  CHECK((*nccl)->all_gather != nullptr);
}

TEST_CASE("a machine without a GPU says so") {
  DeviceRequest request;
  request.environment.local_rank = 0;
  const auto runtime = make_device_runtime(request);
  if (runtime) return;  // there is one
  CHECK(runtime.error().kind == ErrorKind::not_possible);
  CHECK_THAT(runtime.error().what, test::contains_text("GPU"));
}

}  // namespace shardlab

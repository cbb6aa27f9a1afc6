#include <ATen/ops/bmm.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/ones.h>

#include "engine/execute/torch/operators/aten/device_operators.h"
#include "tests/unit/execute/torch/place.h"

namespace shardlab::test {

namespace {

// MKL chooses its code paths when it is first called. Called first by several of ATen's threads at once,
// about one process in a hundred computed with errors of 1e-5 in its first operator, and none of 300 with
// MKL_CBWR set; so one thread calls it first.
bool call_mkl_once() {
  at::exp(at::ones({64}));
  at::bmm(at::ones({2, 8, 8}), at::ones({2, 8, 8}));
  return true;
}

}  // namespace

std::vector<Place> all_places() {
  [[maybe_unused]] static const bool called = call_mkl_once();
  return {{}, {"as on devices", c10::kCPU, find_device_implementation}};
}

}  // namespace shardlab::test

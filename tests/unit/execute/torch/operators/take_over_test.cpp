// Memory that changes hands instead of being copied.
#include "engine/execute/torch/operators/aten/take_over.h"

#include <ATen/ATen.h>

#include "tests/catch.h"

namespace shardlab::test {

TEST_CASE("a tensor that gave up its memory takes over the result's, for everyone who holds its storage") {
  const at::Tensor tensor = at::zeros({2, 3});
  const at::Tensor view = tensor.view({6});
  give_up_memory(tensor);
  CHECK(tensor.storage().data() == nullptr);
  at::Tensor made = at::arange(6, at::kFloat);
  const void* memory = made.const_data_ptr();
  take_over(tensor, std::move(made));
  CHECK(tensor.const_data_ptr() == memory);
  CHECK(at::equal(view, at::arange(6, at::kFloat)));
}

TEST_CASE("what does not fit is copied into memory of its own") {
  const at::Tensor source = at::arange(12, at::kFloat);
  for (const at::Tensor& made :
       {source.view({6, 2}).select(1, 0), source.narrow(0, 0, 6), source.narrow(0, 0, 6).to(at::kBFloat16)}) {
    const at::Tensor expected = made.to(at::kFloat);
    const at::Tensor tensor = at::zeros({2, 3});
    give_up_memory(tensor);
    take_over(tensor, made);
    CHECK(tensor.const_data_ptr() != made.const_data_ptr());
    CHECK(at::equal(tensor.flatten(), expected));
  }
  CHECK(at::equal(source, at::arange(12, at::kFloat)));
}

TEST_CASE("a tensor that shares its storage keeps its memory") {
  const at::Tensor flat = at::zeros({12});
  const at::Tensor part = flat.narrow(0, 6, 6);
  give_up_memory(part);
  REQUIRE(flat.const_data_ptr() != nullptr);
  take_over(part, at::ones({2, 3}));
  CHECK(flat.sum().item<double>() == 6);
  give_up_memory({});
}

}  // namespace shardlab::test

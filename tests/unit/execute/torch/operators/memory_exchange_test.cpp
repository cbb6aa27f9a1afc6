// Memory that changes hands instead of being copied.
#include "engine/execute/torch/operators/aten/memory_exchange.h"

#include <ATen/ATen.h>

#include "engine/execute/torch/memory/memory_ledger.h"
#include "tests/catch.h"

namespace shardlab::test {

TEST_CASE("a tensor that gave up its memory takes over the result's, for everyone who holds its storage") {
  const at::Tensor tensor = at::zeros({2, 3});
  const at::Tensor view = tensor.view({6});
  MemoryExchange exchange(tensor);
  CHECK(tensor.storage().data() == nullptr);
  const at::Tensor made = at::arange(6, at::kFloat);
  const void* memory = made.const_data_ptr();
  exchange.take(made);
  CHECK(tensor.const_data_ptr() == memory);
  CHECK(at::equal(view, at::arange(6, at::kFloat)));
}

TEST_CASE("a result that does not fit is copied into memory of its own") {
  const at::Tensor source = at::arange(12, at::kFloat);
  for (const at::Tensor& made :
       {source.view({6, 2}).select(1, 0), source.narrow(0, 0, 6), source.narrow(0, 0, 6).to(at::kBFloat16)}) {
    const at::Tensor expected = made.to(at::kFloat);
    const at::Tensor tensor = at::zeros({2, 3});
    MemoryExchange(tensor).take(made);
    CHECK(tensor.const_data_ptr() != made.const_data_ptr());
    CHECK(at::equal(tensor.flatten(), expected));
  }
  CHECK(at::equal(source, at::arange(12, at::kFloat)));
}

TEST_CASE("a tensor that shares its storage keeps its memory, one that is undefined has none") {
  const at::Tensor flat = at::zeros({12});
  const at::Tensor part = flat.narrow(0, 6, 6);
  MemoryExchange exchange(part);
  REQUIRE(flat.storage().data() != nullptr);
  exchange.take(at::ones({2, 3}));
  CHECK(flat.sum().item<double>() == 6);
  MemoryExchange(at::Tensor()).take(at::ones({2, 3}));
}

TEST_CASE("memory taken over is booked as the memory before it, and never beside it") {
  install_counting_allocator();
  const MemoryLedger ledger;
  const LedgerScope counted(ledger);
  at::Tensor tensor;
  {
    const BufferClassScope booked(BufferClass::activation);
    tensor = at::empty({256});
  }
  MemoryExchange exchange(tensor);
  CHECK(ledger.live().total.value == 0);
  exchange.take(at::zeros({256}));
  CHECK(ledger.live().of(BufferClass::activation).value == 1024);
  CHECK(ledger.live().total.value == 1024);
  CHECK(ledger.peak().total.value == 1024);
}

}  // namespace shardlab::test

#include "engine/execute/torch/memory/memory_ledger.h"

#include <ATen/ATen.h>

#include <array>
#include <cmath>
#include <optional>
#include <thread>
#include <vector>

#include "tests/catch.h"

namespace shardlab {
namespace {

at::Tensor floats(std::int64_t count) {
  return at::empty({count}, at::kFloat);
}

}  // namespace

TEST_CASE("a ledger counts the bytes asked for, by class") {
  install_counting_allocator();
  const MemoryLedger ledger;
  const LedgerScope counted(ledger);
  const at::Tensor scratch = floats(3);
  {
    const BufferClassScope scope(BufferClass::gradient);
    const at::Tensor gradient = floats(100);
    CHECK(ledger.live().total == Bytes{412});
    CHECK(ledger.live().of(BufferClass::gradient) == Bytes{400});
    CHECK(ledger.live().of(BufferClass::workspace) == Bytes{12});
  }
  CHECK(ledger.live().total == Bytes{12});
  CHECK(ledger.peak().total == Bytes{412});
  CHECK(ledger.peak().of(BufferClass::gradient) == Bytes{400});
  CHECK(ledger.allocations() == 2);
}

TEST_CASE("the peak is what was live at the highest moment, and can start anew") {
  install_counting_allocator();
  MemoryLedger ledger;
  const LedgerScope counted(ledger);
  const at::Tensor kept = floats(10);
  { const at::Tensor large = floats(1000); }
  const at::Tensor later = floats(20);
  CHECK(ledger.peak().total == Bytes{4040});
  ledger.reset_peak();
  CHECK(ledger.peak().total == Bytes{120});
  { const at::Tensor small = floats(5); }
  CHECK(ledger.peak().total == Bytes{140});
}

TEST_CASE("storages given back through their data pointer are counted") {
  install_counting_allocator();
  const MemoryLedger ledger;
  const LedgerScope counted(ledger);
  at::Tensor tensor = floats(64);
  auto* storage = tensor.storage().unsafeGetStorageImpl();
  storage->set_data_ptr(c10::DataPtr(nullptr, c10::Device(c10::kCPU)));
  CHECK(ledger.live().total == Bytes{0});
  storage->set_data_ptr_noswap(c10::GetAllocator(c10::kCPU)->allocate(256));
  CHECK(ledger.live().total == Bytes{256});
}

TEST_CASE("tensors without elements count nothing") {
  install_counting_allocator();
  const MemoryLedger ledger;
  const LedgerScope counted(ledger);
  const at::Tensor nothing = floats(0);
  CHECK(ledger.live().total == Bytes{0});
  CHECK_FALSE(reclassify(nothing, BufferClass::gradient));
}

TEST_CASE("a block can change its class, once it is counted") {
  const at::Tensor early = floats(8);
  install_counting_allocator();
  const at::Tensor outside = floats(8);
  const MemoryLedger ledger;
  const LedgerScope counted(ledger);
  const at::Tensor logits = floats(8);
  CHECK(reclassify(logits, BufferClass::activation_gradient));
  CHECK(ledger.live().of(BufferClass::activation_gradient) == Bytes{32});
  CHECK(ledger.live().of(BufferClass::workspace) == Bytes{0});
  CHECK(ledger.live().total == Bytes{32});
  CHECK_FALSE(reclassify(early, BufferClass::gradient));
  CHECK_FALSE(reclassify(outside, BufferClass::gradient));
  std::vector<float> own(4);
  CHECK_FALSE(reclassify(at::from_blob(own.data(), {4}, at::kFloat), BufferClass::gradient));
}

TEST_CASE(
    "ranks as threads have ledgers of their own; a block leaves the one it is booked in, whoever frees it") {
  install_counting_allocator();
  const MemoryLedger first, second;
  at::Tensor handed;
  std::thread rank([&] {
    const LedgerScope counted(first);
    handed = floats(25);
  });
  rank.join();
  CHECK(first.live().total == Bytes{100});
  const LedgerScope counted(second);
  const at::Tensor own = floats(1);
  handed.reset();
  CHECK(first.live().total == Bytes{0});
  CHECK(second.live().total == Bytes{4});
}

TEST_CASE("many threads at once lose no count") {
  install_counting_allocator();
  const MemoryLedger ledger;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const LedgerScope counted(ledger);
      for (int round = 0; round < 2000; ++round) const at::Tensor tensor = floats(round % 7 + 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(ledger.live().total == Bytes{0});
  CHECK(ledger.allocations() == 8000);
}

TEST_CASE("a block may outlive its ledger") {
  install_counting_allocator();
  at::Tensor survivor;
  {
    const MemoryLedger ledger;
    const LedgerScope counted(ledger);
    survivor = floats(10);
  }
  survivor.fill_(1);
  CHECK(survivor.sum().item<float>() == 10);
}

TEST_CASE("scopes nest and end") {
  install_counting_allocator();
  const MemoryLedger outer, inner;
  const LedgerScope counted(outer);
  std::optional<at::Tensor> tensor;
  {
    const LedgerScope nested(inner);
    const BufferClassScope parameters(BufferClass::parameter);
    { const BufferClassScope states(BufferClass::optimizer_state); }
    tensor = floats(1);
  }
  CHECK(inner.live().of(BufferClass::parameter) == Bytes{4});
  const at::Tensor after = floats(2);
  CHECK(outer.live().of(BufferClass::workspace) == Bytes{8});
}

TEST_CASE("blocks of other allocators are booked by address, and under another class when told so") {
  const MemoryLedger ledger;
  const LedgerScope counted(ledger);
  std::array<float, 16> memory{};
  const at::Tensor tensor = at::from_blob(memory.data(), {16}, at::kFloat);
  CHECK_FALSE(booked_class(tensor).has_value());
  CHECK_FALSE(reclassify(tensor, BufferClass::gradient));
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  book_block(address, Bytes{64});
  CHECK(booked_class(tensor) == BufferClass::workspace);
  CHECK(reclassify(tensor, BufferClass::gradient));
  CHECK(booked_class(tensor) == BufferClass::gradient);
  CHECK(ledger.live().of(BufferClass::gradient) == Bytes{64});
  CHECK(ledger.live().of(BufferClass::workspace) == Bytes{0});
  unbook_block(address);
  CHECK(ledger.live().total == Bytes{0});
}

TEST_CASE("poisoned memory is NaN when it is given back") {
  install_counting_allocator();
  const MemoryLedger ledger;
  const LedgerScope counted(ledger);
  poison_freed_memory(true);
  at::Tensor tensor = at::ones({16384}, at::kFloat);
  const float* late = tensor.const_data_ptr<float>();
  const float before = late[8000];
  tensor.reset();
  // The heap keeps a block of this size mapped and touches its ends only.
  const float after = late[8000];
  poison_freed_memory(false);
  CHECK(before == 1);
  CHECK(std::isnan(after));
}

}  // namespace shardlab

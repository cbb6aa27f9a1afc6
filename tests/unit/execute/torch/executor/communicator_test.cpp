#include <ATen/ATen.h>

#include "engine/execute/torch/communication/background_worker.h"
#include "tests/unit/execute/torch/executor/rank_threads.h"

namespace shardlab {
namespace {

using test::run_ranks;

// Catch2's assertions belong to one thread: bodies throw instead.
void expect(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}
void expect_equal(const at::Tensor& actual, const at::Tensor& expected, const std::string& what) {
  expect(at::equal(actual, expected), what);
}

at::Tensor values_of(int rank, std::int64_t count, at::ScalarType dtype = at::kFloat) {
  return (at::arange(count, at::kFloat) + 100.0 * rank).to(dtype);
}

TEST_CASE("all-gather, from elsewhere and in place") {
  run_ranks(3, [](int rank, const auto& communicator) {
    const at::Tensor expected = at::cat({values_of(0, 5), values_of(1, 5), values_of(2, 5)});
    at::Tensor gathered = at::full({15}, -1.0);
    communicator->all_gather(gathered, values_of(rank, 5))->wait();
    expect_equal(gathered, expected, "from elsewhere");
    at::Tensor in_place = at::full({15}, -1.0);
    const at::Tensor own = in_place.narrow(0, rank * 5, 5);
    own.copy_(values_of(rank, 5));
    communicator->all_gather(in_place, own)->wait();
    expect_equal(in_place, expected, "in place");
  });
}

TEST_CASE("two of three exchange, as often as they like, and collectives of all go on") {
  run_ranks(3, [](int rank, const auto& communicator) {
    for (int repeat = 0; repeat < 3; ++repeat) {
      for (const auto& [first, second] : {std::pair(0, 2), std::pair(1, 2), std::pair(0, 2)}) {
        if (rank != first && rank != second) continue;
        const int peer = rank == first ? second : first;
        at::Tensor received = at::full({7}, -1.0);
        communicator->exchange(values_of(rank, 7), received, peer)->wait();
        expect_equal(received, values_of(peer, 7), "exchanged");
      }
      at::Tensor values = values_of(rank, 5);
      communicator->all_reduce(values, ReduceOperation::sum)->wait();
      expect_equal(values, at::arange(5, at::kFloat) * 3 + 300.0, "sum after it");
    }
  });
}

TEST_CASE("reduce-scatter adds in the order of the ranks") {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf, at::kDouble}) {
    run_ranks(3, [dtype](int rank, const auto& communicator) {
      const at::Tensor full = values_of(rank, 12, dtype);
      const at::Tensor sum =
          (values_of(0, 12).to(dtype).to(at::kFloat) + values_of(1, 12).to(dtype).to(at::kFloat) +
           values_of(2, 12).to(dtype).to(at::kFloat));
      at::Tensor own = at::empty({4}, dtype);
      communicator->reduce_scatter(own, full, ReduceOperation::sum)->wait();
      expect_equal(own, sum.narrow(0, rank * 4, 4).to(dtype), "sum");
      communicator->reduce_scatter(own, full, ReduceOperation::average)->wait();
      expect(at::allclose(own.to(at::kFloat), sum.narrow(0, rank * 4, 4) / 3, 1e-2), "average");
    });
  }
}

TEST_CASE("all-reduce of any length, also shorter than the number of ranks") {
  for (const std::int64_t count : {1, 2, 7, 5000}) {
    run_ranks(4, [count](int rank, const auto& communicator) {
      at::Tensor values = values_of(rank, count);
      communicator->all_reduce(values, ReduceOperation::average)->wait();
      expect_equal(values, at::arange(count, at::kFloat) + 150.0, "average");
      at::Tensor sum = values_of(rank, count);
      communicator->all_reduce(sum, ReduceOperation::sum)->wait();
      expect_equal(sum, at::arange(count, at::kFloat) * 4 + 600.0, "sum");
    });
  }
}

TEST_CASE("reduce: one rank receives, the others send it what they have") {
  for (const std::int64_t count : {1, 7, 5000}) {
    run_ranks(3, [count](int rank, const auto& communicator) {
      at::Tensor values = values_of(rank, count);
      communicator->reduce(values, 1, ReduceOperation::average)->wait();
      if (rank == 1) expect_equal(values, at::arange(count, at::kFloat) + 100.0, "average");
      const Sent sent = communicator->sent().at(InstructionKind::Reduce);
      CHECK(sent.bytes == Bytes{rank == 1 ? 0 : count * 4});
    });
  }
}

TEST_CASE("broadcast") {
  run_ranks(3, [](int rank, const auto& communicator) {
    at::Tensor values = values_of(rank, 6);
    communicator->broadcast(values, 2)->wait();
    expect_equal(values, values_of(2, 6), "broadcast");
    communicator->barrier();
  });
}

TEST_CASE("averages over both dimensions of a mesh are the average over all ranks") {
  // Ranks 0 1 | 2 3: shard groups are neighbours, replicate groups lie across; a shard's sub-group has a name
  // of its own.
  test::run_threads(4, [](int rank, const Rendezvous& rendezvous) {
    const int node = rank / 2, place = rank % 2;
    const auto shard = test::connect(rendezvous, "shard", {2 * node, 2 * node + 1}, rank);
    const auto replicate = test::connect(rendezvous, "replicate", {place, place + 2}, rank);
    const auto part = test::connect(rendezvous, "shard/2", {2 * node, 2 * node + 1}, rank);
    const at::Tensor full = values_of(rank, 8);
    at::Tensor own = at::empty({4});
    shard->reduce_scatter(own, full, ReduceOperation::average)->wait();
    expect_equal(own, (at::arange(8, at::kFloat) + 200.0 * node + 50.0).narrow(0, place * 4, 4), "of a node");
    replicate->all_reduce(own, ReduceOperation::average)->wait();
    expect_equal(own, (at::arange(8, at::kFloat) + 150.0).narrow(0, place * 4, 4), "of all");
    at::Tensor gathered = at::empty({2});
    part->all_gather(gathered, values_of(rank, 1))->wait();
    expect_equal(gathered, at::arange(2, at::kFloat) * 100.0 + 200.0 * node, "of the sub-group");
  });
}

TEST_CASE("many operations in flight keep their order and their times") {
  run_ranks(2, [](int rank, const auto& communicator) {
    std::vector<at::Tensor> tensors;
    std::vector<std::unique_ptr<Pending>> pending;
    for (int i = 0; i < 50; ++i) {
      tensors.push_back(at::full({100 + i}, rank + 1.0));
      pending.push_back(communicator->all_reduce(tensors.back(), ReduceOperation::sum));
    }
    Nanoseconds last;
    for (int i = 0; i < 50; ++i) {
      pending[i]->wait();
      expect_equal(tensors[i], at::full({100 + i}, 3.0), "operation " + std::to_string(i));
      expect(pending[i]->began_at() >= last && pending[i]->completed_at() >= pending[i]->began_at(), "times");
      last = pending[i]->completed_at();
    }
  });
}

TEST_CASE("a peer that does not come is an exception in time") {
  const auto began = std::chrono::steady_clock::now();
  run_ranks(
      2,
      [](int rank, const auto& communicator) {
        if (rank == 1) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1500));
          return;
        }
        const at::Tensor values = at::ones({10});
        bool thrown = false;
        try {
          communicator->all_reduce(values, ReduceOperation::sum)->wait();
        } catch (const std::exception&) {
          thrown = true;
        }
        expect(thrown, "no exception");
      },
      std::chrono::milliseconds(500));
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(20));
}

TEST_CASE("a background worker passes on what an operation throws, and goes on") {
  BackgroundWorker worker;
  const auto bad = worker.submit([] { throw std::runtime_error("as expected"); });
  bool done = false;
  const auto good = worker.submit([&] { done = true; });
  CHECK_THROWS_WITH(bad->wait(), "as expected");
  good->wait();
  CHECK(done);
}

}  // namespace
}  // namespace shardlab

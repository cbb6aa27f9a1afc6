// Runs ranks as threads of the test, each with its communicator.
#pragma once

#include <functional>
#include <numeric>
#include <thread>
#include <vector>

#include "engine/execute/torch/communication/rendezvous.h"
#include "tests/catch.h"

namespace shardlab::test {

// Calls body(rank, communicator of all ranks) in one thread a rank; what a body throws fails the test.
inline void run_ranks(int world, const std::function<void(int, const std::shared_ptr<Communicator>&)>& body,
                      std::chrono::milliseconds timeout = std::chrono::seconds(30)) {
  RendezvousOptions options;
  options.operation_timeout = timeout;
  const Rendezvous rendezvous = Rendezvous::in_process(options);
  std::vector<int> ranks(static_cast<std::size_t>(world));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<std::string> failures(ranks.size());
  std::vector<std::thread> threads;
  for (const int rank : ranks) {
    threads.emplace_back([&, rank] {
      try {
        const auto communicator = rendezvous.communicator("test", ranks, rank);
        if (!communicator) throw std::runtime_error(to_string(communicator.error()));
        body(rank, *communicator);
      } catch (const std::exception& error) {
        failures[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& failure : failures) CHECK(failure == "");
}

}  // namespace shardlab::test

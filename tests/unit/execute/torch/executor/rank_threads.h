// Runs ranks as threads of the test, each with its communicator.
#pragma once

#include <functional>
#include <numeric>
#include <thread>
#include <vector>

#include "engine/execute/torch/communication/rendezvous.h"
#include "tests/catch.h"

namespace shardlab::test {

// Calls body(rank, meeting point of all ranks) in one thread a rank; what a body throws fails the test.
inline void run_threads(int world, const std::function<void(int, const Rendezvous&)>& body,
                        std::chrono::milliseconds timeout = std::chrono::seconds(30)) {
  RendezvousOptions options;
  options.operation_timeout = timeout;
  const Rendezvous rendezvous = Rendezvous::in_process(options);
  std::vector<std::string> failures(static_cast<std::size_t>(world));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < world; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        body(rank, rendezvous);
      } catch (const std::exception& error) {
        failures[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& failure : failures) CHECK(failure == "");
}

// Throws where connecting fails.
inline std::shared_ptr<Communicator> connect(const Rendezvous& rendezvous, const std::string& name,
                                             const std::vector<int>& ranks, int rank) {
  const auto communicator = rendezvous.communicator(name, ranks, rank);
  if (!communicator) throw std::runtime_error(to_string(communicator.error()));
  return *communicator;
}

// Likewise with the communicator of all ranks.
inline void run_ranks(int world, const std::function<void(int, const std::shared_ptr<Communicator>&)>& body,
                      std::chrono::milliseconds timeout = std::chrono::seconds(30)) {
  std::vector<int> ranks(static_cast<std::size_t>(world));
  std::iota(ranks.begin(), ranks.end(), 0);
  run_threads(
      world,
      [&](int rank, const Rendezvous& rendezvous) { body(rank, connect(rendezvous, "test", ranks, rank)); },
      timeout);
}

}  // namespace shardlab::test

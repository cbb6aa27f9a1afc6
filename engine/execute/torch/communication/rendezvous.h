// How ranks find each other, and the Gloo communicators made from it.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/execute/rank_environment.h"
#include "engine/execute/torch/communication/communicator.h"
#include "engine/execute/torch/communication/key_value_store.h"

namespace shardlab {

struct RendezvousOptions {
  std::chrono::milliseconds arrival_timeout{600'000};   // for all ranks to appear
  std::chrono::milliseconds operation_timeout{30'000};  // for one collective, waiting for peers included
  std::string interface;  // network interface for data; empty: chosen from the master's address
};

// A key-value store shared by the ranks. Copies share it.
class Rendezvous {
 public:
  // Rank 0 serves the store at the master's port. Returns when all ranks have arrived; else run_failed names
  // the missing ones.
  static Result<Rendezvous> connect(const RankEnvironment& environment, const RendezvousOptions& options);

  // For ranks that are threads of this process: make one, give every thread a copy.
  static Rendezvous in_process(const RendezvousOptions& options = {});

  // A communicator of the given world ranks (ascending); `rank` is one of them. All members must call it,
  // with the same name. Throws nothing; failures to connect are run_failed.
  Result<std::shared_ptr<Communicator>> communicator(const std::string& name, const std::vector<int>& ranks,
                                                     int rank) const;

  // For values that ranks tell each other.
  KeyValueStore store() const;

  ~Rendezvous();
  Rendezvous(const Rendezvous&);
  Rendezvous(Rendezvous&&) noexcept;
  Rendezvous& operator=(const Rendezvous&) = delete;
  Rendezvous& operator=(Rendezvous&&) noexcept;

 private:
  struct State;
  explicit Rendezvous(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

}  // namespace shardlab

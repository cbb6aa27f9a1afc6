// How ranks find each other, and the Gloo communicators made from it.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/execute/rank_environment.h"
#include "engine/execute/torch/communication/communicator.h"
#include "engine/execute/torch/communication/key_value_store.h"
#include "engine/plan/planned_scenario.h"

namespace shardlab {

struct RendezvousOptions {
  std::filesystem::path run_directory;  // where rank 0 leaves word of the meeting; the same for all ranks
  std::chrono::milliseconds arrival_timeout{600'000};   // for all ranks to appear
  std::chrono::milliseconds operation_timeout{30'000};  // for one collective, waiting for peers included
  std::string interface;  // network interface for data; empty: chosen from the master's address
};

// A key-value store shared by the ranks. Copies share it.
//
// What is in it only ranks read and write, and so the addresses at which Gloo's pairs and NCCL's bootstrap
// find each other are told to ranks alone. Those connections themselves ask for no secret: who may send
// packets to a rank's ports while the run connects them can disturb it. docs/network.md has the whole of it.
class Rendezvous {
 public:
  // Rank 0 opens a meeting at the master's address, into which nobody comes without the run's secret
  // (meeting/come_to_meeting.h). Returns when all ranks have arrived; else run_failed names the missing ones,
  // or says why there is no meeting.
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

// The communicators that a job needs.

// Ranks that communicate with each other.
struct RankGroup {
  RankSet set;             // the same for all members, another for every group of a rank
  std::vector<int> ranks;  // of the world, ascending; more than one
};

// Each group that a plan of the run names and `rank` is in, in the plans' order.
std::vector<RankGroup> groups_of(const PlannedScenario& planned, int rank);

// One communicator a group, connecting `rank` with the other members. All ranks call it: they connect group
// after group.
Result<Communicators> connect_groups(const Rendezvous& rendezvous, const std::vector<RankGroup>& groups,
                                     int rank);

}  // namespace shardlab

// What a rank has with its peers over NCCL, from meeting to parting: whoever fails meanwhile is heard of.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/execute/rank_environment.h"
#include "engine/execute/torch/communication/nccl_communicator.h"
#include "engine/execute/torch/communication/rendezvous.h"
#include "engine/execute/watch/peer_listener.h"

namespace shardlab {

class NcclSession {
 public:
  // The watch must outlive the session and what it connects. `timeout`: for peers to come.
  NcclSession(const RankEnvironment& environment, std::chrono::milliseconds timeout, FailureWatch& watch)
      : environment_(environment), timeout_(timeout), watch_(watch) {}

  // One communicator a group, in each of which the first collectives have been made. All ranks call it, with
  // the groups in one order. The peers are listened to from the beginning. `gpu` is what the rank's GPU is,
  // the same text for the same GPU; empty where ranks may share one. Errors: not_possible without NCCL;
  // run_failed when ranks do not agree, do not come, or report a failure.
  Result<Communicators> connect(std::shared_ptr<SharedValues> values, const std::vector<RankGroup>& groups,
                                const NcclStreams& streams, const std::string& gpu);

  // Tells the peers why this rank ends. Waits for a few seconds at most.
  void report(const std::string& what);
  // All have ended well: from now on a peer that is gone is no failure; takes the communicators apart.
  void finish();

  // Null before connect().
  const NcclLibrary* library() const { return nccl_; }

 private:
  Status agree(const std::shared_ptr<SharedValues>& values, const std::string& gpu);
  Status try_out(Communicator& communicator, const NcclStreams& streams) const;

  const RankEnvironment environment_;
  const std::chrono::milliseconds timeout_;
  FailureWatch& watch_;
  std::shared_ptr<PeerListener> peers_;
  std::vector<std::shared_ptr<NcclHandle>> handles_;
  const NcclLibrary* nccl_ = nullptr;
};

}  // namespace shardlab

// All ranks of a run: keeping in step, and what they tell each other outside the measured time.
#pragma once

#include <memory>
#include <string>

#include "engine/execute/torch/communication/rendezvous.h"

namespace shardlab {

class World {
 public:
  static Result<World> connect(const Rendezvous& rendezvous, const RankEnvironment& environment);

  // Blocks until all ranks are here. run_failed with ErrorCode::lost_peer when a peer is lost; `place` says
  // where this was: "step 4, the barrier before it".
  Status align(const std::string& place) const;

  // Over the ranks; likewise.
  Result<double> mean(double value, const std::string& place) const;

  // Null for a single rank.
  Communicator* communicator() const { return communicator_.get(); }

 private:
  int rank_ = 0;
  std::shared_ptr<Communicator> communicator_;  // none for a single rank
};

}  // namespace shardlab

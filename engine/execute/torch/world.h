// All ranks of a run: keeping in step, and what they tell each other outside the measured time.
#pragma once

#include <memory>
#include <string>

#include "engine/execute/torch/communication/rendezvous.h"

namespace shardlab {

class World {
 public:
  static Result<World> connect(const Rendezvous& rendezvous, const RankEnvironment& environment);

  // Blocks until all ranks are here. Throws when a peer is lost.
  void align() const;

  // Over the ranks. Throws likewise.
  double mean(double value) const;

  // Null for a single rank.
  Communicator* communicator() const { return communicator_.get(); }

 private:
  std::shared_ptr<Communicator> communicator_;  // none for a single rank
};

}  // namespace shardlab

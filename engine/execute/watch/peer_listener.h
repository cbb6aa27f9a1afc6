// A rank's PeerWatch in a thread of its own.
//
// Rank 0 keeps the values through which ranks hear of each other. When its machine loses power its store does
// not refuse, it is silent, and whoever asks it hangs. So nobody but this thread asks it: one that has not
// been answered for as long as a silent peer is waited for has lost rank 0, and all others go on at once. The
// thread is left behind when it does not come back.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "engine/execute/watch/peer_watch.h"

namespace shardlab {

class PeerListener {
 public:
  PeerListener(std::shared_ptr<SharedValues> values, int rank, int world, PeerWatchOptions options = {});
  ~PeerListener();  // waits for nothing
  PeerListener(const PeerListener&) = delete;
  PeerListener& operator=(const PeerListener&) = delete;

  // What is wrong with a peer, from the first time on. Never blocks; any thread.
  std::optional<std::string> failure() const;

  // Both wait until the others can read it, options.patience at most.
  void report(const std::string& what);  // why this rank ends
  void finish();                         // it ends well: its silence means nothing from now on

 private:
  struct State;
  static void listen(const std::shared_ptr<State>& state);
  std::shared_ptr<State> state_;
};

}  // namespace shardlab

// Rank 0's side of a meeting: lets in who knows the run's secret, and answers them from a table of values.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/execute/meeting/doorkeeper.h"
#include "engine/execute/meeting/value_table.h"

namespace shardlab {

// Its functions may be called by any thread. One thread of its own is at the door, and one answers each rank.
class MeetingServer {
 public:
  // Listens as StreamSocket::listen_at() does; at a free port where the given one is taken, as torchrun takes
  // the one that it tells its ranks. run_failed when there is no port.
  static Result<std::unique_ptr<MeetingServer>> start(const std::string& host, int port, RunSecret secret);
  // Ends all conversations.
  ~MeetingServer();
  MeetingServer(const MeetingServer&) = delete;
  MeetingServer& operator=(const MeetingServer&) = delete;

  int port() const { return listener_.port(); }
  // How many spoke as a rank does and had another secret.
  int refused() const { return refused_; }

 private:
  MeetingServer(StreamSocket listener, RunSecret secret);
  void keep_door();
  void converse(std::shared_ptr<StreamSocket> guest);

  const StreamSocket listener_;
  Doorkeeper door_;  // the door's thread's, as the guests' list
  ValueTable table_;
  std::atomic<bool> stop_{false};
  std::atomic<int> refused_{0};
  struct Guest {
    std::shared_ptr<StreamSocket> socket;
    std::thread thread;
  };
  std::vector<Guest> guests_;
  std::thread door_thread_;
};

}  // namespace shardlab

// A rank's side of a meeting: asks rank 0, one question at a time.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "engine/execute/meeting/run_secret.h"
#include "engine/execute/meeting/stream_socket.h"

namespace shardlab {

// Any number of threads may ask; each waits for the answers to the others. After an error nothing is answered
// any more.
class MeetingClient {
 public:
  // One attempt to be let in, by the deadline. run_failed says why not; `refused`, where it is given, becomes
  // whether somebody keeps a meeting there for which this is another secret.
  static Result<std::shared_ptr<MeetingClient>> come(const std::string& host, int port,
                                                     const RunSecret& secret,
                                                     StreamSocket::Clock::time_point deadline,
                                                     bool* refused = nullptr);

  // run_failed when rank 0 is gone, or has not answered within `patience`.
  Result<MeetingMessage> ask(const MeetingMessage& question, std::chrono::milliseconds patience);

 private:
  explicit MeetingClient(StreamSocket socket) : socket_(std::move(socket)) {}

  std::mutex mutex_;
  StreamSocket socket_;
  bool is_lost_ = false;
};

}  // namespace shardlab

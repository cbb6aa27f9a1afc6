// Who comes to a meeting says the run's secret first. A doorkeeper keeps those who have not said it yet:
// without a thread for each, not for long, and not many at a time, so that silence and garbage hold up
// nobody.
#pragma once

#include <poll.h>

#include <chrono>
#include <list>
#include <string>
#include <vector>

#include "engine/execute/meeting/run_secret.h"
#include "engine/execute/meeting/stream_socket.h"

namespace shardlab {

// What a rank says when it comes, of the same length for all secrets, and the two answers to it, of one byte.
// Whoever says something else is not answered.
std::string meeting_greeting(const RunSecret& secret);
inline constexpr char k_welcome = 'W', k_another_secret = 'R';

// Used by one thread.
class Doorkeeper {
 public:
  using Clock = StreamSocket::Clock;
  static constexpr std::size_t k_most = 128;  // when one more comes, the first of them is sent away
  static constexpr std::chrono::seconds k_patience{10};

  explicit Doorkeeper(RunSecret secret) : secret_(std::move(secret)) {}

  void add(StreamSocket visitor, Clock::time_point now);
  // Adds what to wait for.
  void watch(std::vector<pollfd>& waited) const;
  // Reads what has come by now; blocks on nobody. Those who have said the secret and been welcomed; who was
  // refused, sent garbage, left or stayed silent is gone.
  std::vector<StreamSocket> admit(Clock::time_point now);
  // How many spoke as a rank does and had another secret.
  int refused() const { return refused_; }

 private:
  struct Visitor {
    StreamSocket socket;
    Clock::time_point came;
    std::string said;
  };
  enum class Verdict { unknown, welcome, gone };
  Verdict listen_to(Visitor& visitor);
  Verdict judge(const Visitor& visitor);

  const RunSecret secret_;
  std::list<Visitor> visitors_;
  int refused_ = 0;
};

}  // namespace shardlab

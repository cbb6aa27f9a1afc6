// TCP sockets that are waited for with a deadline, and closed with their object.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "engine/base/result.h"
#include "engine/execute/meeting/message.h"

namespace shardlab {

class StreamSocket {
 public:
  using Clock = std::chrono::steady_clock;

  StreamSocket() = default;
  explicit StreamSocket(int descriptor) : descriptor_(descriptor) {}
  StreamSocket(StreamSocket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  StreamSocket& operator=(StreamSocket&& other) noexcept;
  ~StreamSocket();

  // Listens where ranks that know `host` as the meeting's address can come, and nowhere else where that is
  // known: at a loopback address, or an address of this machine, that is given as a number, or at
  // `localhost`. At any other name it listens on all interfaces: what a name means differs between machines.
  // Port 0 is a free one. run_failed otherwise.
  static Result<StreamSocket> listen_at(const std::string& host, int port);
  // One attempt; run_failed says why there is no connection by the deadline.
  static Result<StreamSocket> connect_to(const std::string& host, int port, Clock::time_point deadline);

  // A connection that waits at a listening socket; does not block: one that is_open() or none.
  StreamSocket accept() const;
  int port() const;  // of the own end

  // Whole or run_failed, which also says that the other side went away. Blocking where there is no deadline.
  Status send(std::string_view bytes) const;
  Result<std::string> receive(std::size_t count, Clock::time_point deadline) const;
  Status send(const MeetingMessage& message) const { return send(message_bytes(message)); }
  Result<MeetingMessage> receive_message(Clock::time_point deadline) const;

  // Whoever waits for it, on either side, goes on; it stays open for its object's life.
  void shut_down() const;
  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

}  // namespace shardlab

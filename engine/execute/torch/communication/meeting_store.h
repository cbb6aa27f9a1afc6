// A run's meeting as the store that c10d's process groups use. c10d's own TCPStore asks nobody for a secret,
// and tells whoever asks it (listKeys) the name of every key, so that no prefix keeps strangers away from it.
#pragma once

#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "engine/execute/meeting/come_to_meeting.h"

namespace shardlab {

// Any number of threads may use it; one question is asked at a time, also through a clone(): who waits for a
// key holds up the others. Throws std::runtime_error when rank 0 is
// gone or a time is over, as c10d's stores do.
class MeetingStore : public c10d::Store {
 public:
  MeetingStore(Meeting meeting, std::chrono::milliseconds timeout)
      : Store(timeout), meeting_(std::make_shared<const Meeting>(std::move(meeting))) {}

  c10::intrusive_ptr<Store> clone() override { return c10::make_intrusive<MeetingStore>(*this); }

  // How many came to rank 0, where this is its store, and had another secret.
  int refused() const { return meeting_->server ? meeting_->server->refused() : 0; }

  using Store::compareSet;
  using Store::set;
  using Bytes = std::vector<std::uint8_t>;
  void set(const std::string& key, const Bytes& value) override;
  Bytes compareSet(const std::string& key, const Bytes& expected, const Bytes& desired) override;
  Bytes get(const std::string& key) override;  // waits for the key
  std::int64_t add(const std::string& key, std::int64_t value) override;
  bool deleteKey(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  std::int64_t getNumKeys() override;
  void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) override;
  void append(const std::string& key, const Bytes& value) override;

 private:
  MeetingMessage ask(const MeetingMessage& question, std::chrono::milliseconds waits = {}) const;

  std::shared_ptr<const Meeting> meeting_;
};

}  // namespace shardlab

// Reads a log: what rules look for in it, in one pass and bounded memory.
//
// Lines are looked at one by one and forgotten; what is kept are the first lines of each sign, the last
// frames of each rank's traceback, and counts. Nothing in a log can make it fail: bytes are bytes.
#pragma once

#include <memory>
#include <string_view>

#include "engine/doctor/log/log_facts.h"
#include "engine/doctor/log/sign_index.h"

namespace shardlab {

class LogReader {
 public:
  // The index must live as long as the reader, its rules as long as the facts, which point to their signs.
  explicit LogReader(const SignIndex& index);
  ~LogReader();
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  // Any cut of the bytes gives the same facts.
  void feed(std::string_view bytes);

  // Call once, after the last bytes.
  LogFacts finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

LogFacts read_log(std::string_view bytes, const SignIndex& index);

}  // namespace shardlab

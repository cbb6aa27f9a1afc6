// What a kind of operator takes in a step: measured around every call, or predicted.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/units.h"

namespace shardlab {

struct OperatorTime {
  std::string operation;  // model/segment/step_operation.h: "linear", "attention"
  bool backward = false;
  std::int64_t calls = 0;  // in a step
  Nanoseconds time;        // of all calls of a step, mean over steps and ranks
  friend bool operator==(const OperatorTime&, const OperatorTime&) = default;
};

}  // namespace shardlab

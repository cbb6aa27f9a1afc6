// What files of other tools (accelerate, DeepSpeed, transformers, launchers) say that is wrong.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"

namespace shardlab {

// A mistake in a file, as whoever read the file says it.
struct FileFault {
  ErrorCode code = ErrorCode::none;
  bool is_refused = false;  // the tool ends there; else it goes on, in silence
  std::string tool;         // whose file: "accelerate", "deepspeed", "transformers", "launcher"
  Place place;
  std::string line;  // of the file, at the place; may be empty
  std::string what;
  std::string hint;  // may be empty
};

struct ToolFiles {
  std::vector<FileFault> faults;  // in the order in which the tools look at them
  // What the files do not say and a plan needs, or say and a scenario cannot; empty where they were planned.
  std::string not_planned;
  std::string to_plan;  // what to do about that
};

}  // namespace shardlab

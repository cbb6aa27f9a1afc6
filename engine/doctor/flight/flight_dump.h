// What a dump of torch's flight recorder says: the last collectives that a rank issued.
//
// Source: torch 2.11, torch/csrc/distributed/c10d/FlightRecorder.hpp (version 2.10 of the dump), and the
// dumps that it writes for NCCL and Gloo.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/units.h"

namespace shardlab {

using TensorSizes = std::vector<std::vector<std::int64_t>>;  // of the tensors of a call

struct FlightEntry {
  std::string group;          // of FlightDump::groups
  std::int64_t sequence = 0;  // in its group, from 1
  std::string operation;      // "all_reduce", whatever the library
  TensorSizes inputs, outputs;
  std::vector<std::string> input_types;  // "Float"
  bool is_started = false;               // on the device
  bool is_done = false;
  std::optional<Nanoseconds> created = {};  // when it was called, since 1970
  std::string called_from;  // "train.py:88 (main)": the first frame outside of torch; may be empty
};

struct FlightDump {
  int rank = 0;
  std::string source;                       // the file
  std::optional<Nanoseconds> written = {};  // when it was, since 1970
  // Members of each process group by its name and description; empty where the dump does not say them.
  std::map<std::string, std::vector<int>> groups;
  std::vector<FlightEntry> entries;  // collectives, as they were issued; the recorder keeps the last ones
};

}  // namespace shardlab

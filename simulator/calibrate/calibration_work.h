// What a calibration does on a kind of device.
#pragma once

#include <string>
#include <vector>

#include "engine/execute/probe.h"
#include "engine/hardware/device.h"

namespace shardlab {

// A small scenario that really runs, so that its copies, optimizer and bookkeeping are measured where they
// happen.
struct SmallRun {
  std::string name;
  std::string strategy;
  int width = 0;
  int feed_forward = 0;
  int sequence = 0;
  std::string more;  // further sections of the scenario
};

struct CalibrationWork {
  std::vector<ProbeCase> probes;  // most useful first
  std::int64_t probe_budget_ms = 0;
  std::vector<SmallRun> runs;  // at least one: the probes go before the first, in the same processes
};

CalibrationWork standard_work(DeviceKind kind);

}  // namespace shardlab

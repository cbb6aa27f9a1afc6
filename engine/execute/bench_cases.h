// The micro-benchmarks of `shardlab bench`: what people want to know of a machine before they trust it with a
// run.
#pragma once

#include <string>
#include <vector>

#include "engine/execute/probe.h"

namespace shardlab {

struct BenchSelection {
  bool products = true;  // matrix products over sizes
  bool attention = true;
  bool copies = true;       // memory and, on devices, the host's link
  bool collectives = true;  // over sizes
  bool pairs = true;        // every pair of ranks alone
};

// Sizes suit the kind of device: a processor gets what it can do in seconds.
std::vector<ProbeCase> bench_cases(const BenchSelection& selection, bool on_gpus);

}  // namespace shardlab

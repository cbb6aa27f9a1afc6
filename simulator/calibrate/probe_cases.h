// What a calibration measures.
#pragma once

#include <vector>

#include "engine/execute/probe.h"
#include "engine/model/model_graph.h"

namespace shardlab {

struct Scenario;

// Shapes of transformers from 64 to 1024 wide in both dtypes, collectives from 4 KiB to 64 MiB, contention:
// about 20 s with two ranks of one thread on a small machine. The most useful come first, so that a spent
// budget costs the least.
std::vector<ProbeCase> standard_probe_cases();

// The same for a GPU: widths of 1024 to 8192, collectives from 256 KiB to 1 GiB. By their shapes they need up
// to 8 GiB of its memory.
std::vector<ProbeCase> gpu_probe_cases();

// The drive that a scenario swaps to; none where it swaps to none.
std::vector<ProbeCase> drive_cases(const Scenario& scenario);

// The operators of a model, each distinct shape once.
std::vector<ProbeCase> probe_cases_of(const ModelGraph& graph);

}  // namespace shardlab

// The fit that assets/network/collectives.yaml holds: least squares of relative errors over measured curves.
#pragma once

#include <vector>

#include "tests/unit/network/measured_curves.h"

namespace shardlab::test {

// Launches, efficiencies and fillings from the all-reduces of one node; the doubling from those of several
// nodes. `start` gives everything that no curve says anything of. Curves with `fitted` only; `without`, if
// not null, is left out, and what its network adds to latency is then taken for nothing.
CollectiveFigures fit_figures(const std::vector<MeasuredCurve>& curves, const CollectiveFigures& start,
                              const MeasuredCurve* without = nullptr);

}  // namespace shardlab::test

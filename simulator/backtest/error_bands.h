// Bands from residuals: where a published figure is to be expected, given how far predictions of other
// sources were from theirs.
#pragma once

#include <vector>

#include "engine/trace/backtest.h"

namespace shardlab {

// The part of the published figures that a band should hold, and how many residuals of others it takes at
// least.
inline constexpr double k_band_part = 0.8;
inline constexpr int k_least_residuals = 5;

// Sets `low` and `high` of every predicted row: the prediction divided by the quantiles of predicted /
// published over the rows of all other series, each series with the same weight whatever its rows. Rows that
// too few others remain for get none. Returns the part of rows with a band whose published figure lies in it;
// nothing when no row has one.
std::optional<double> set_bands(std::vector<BacktestRow>& rows);

}  // namespace shardlab

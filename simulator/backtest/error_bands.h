// Bands from residuals: where a published figure is to be expected, given how far predictions of other
// sources were from theirs.
#pragma once

#include <vector>

#include "engine/trace/backtest.h"

namespace shardlab {

// How many residuals of others a band takes at least.
inline constexpr int k_least_residuals = 5;

// Sets `low` and `high` of every predicted row so that `part` of the published figures should lie between:
// the prediction divided by the quantiles of predicted / published over the rows of all other series, each
// series with the same weight whatever its rows. Rows that too few others remain for get none. Returns the
// part of rows with a band whose published figure lies in it; nothing when no row has one.
std::optional<double> set_bands(std::vector<BacktestRow>& rows, double part);

}  // namespace shardlab

// How far predicted step times were from published ones, and what that says of one that is predicted now.
//
// Immutable after reading; threads may share it.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"

namespace shardlab {

// A published run and its prediction.
struct TimeCase {
  std::string series;  // of sources that repeat each other; each weighs the same
  int group = 0;       // runs of one source, version, model, sequence and GPU
  double ratio = 1;    // published over predicted time
};

class TimeErrors {
 public:
  explicit TimeErrors(const std::vector<TimeCase>& cases);

  // The errors in assets/residuals/step_time.yaml, which `shardlab backtest --residuals` writes. Errors: a
  // file that is missing or malformed.
  static Result<TimeErrors> read();

  // How likely a time is at most so many times the predicted one: (n F + 1) / (n + 2) with F the weighted
  // share of the ratios and n how many independent ones the weights are worth.
  double at_most(double ratio) const;

  // The ratio that so large a part of the cases stays below.
  double quantile(double part) const;

  // How likely the one of two configurations is the faster of which the prediction says that it is, by a
  // factor of `ratio` (1 or more): what two runs of a group share of their errors cancels. One half where the
  // predictions are equal.
  double faster(double ratio) const;

  // The same of configurations on different hardware, whose errors are independent.
  double faster_elsewhere(double ratio) const;

 private:
  struct Weighted {
    double value, weight;  // weights add up to 1
  };
  static double share_below(const std::vector<Weighted>& sorted, double value);
  double share_of_equals() const;

  // (sum w)^2 / sum w^2. They stand before what they are the worth of, which writes them.
  double ratios_worth_ = 0, differences_worth_ = 0;
  std::vector<Weighted> ratios_, differences_;  // ratios; |log ratio of one - of another| of pairs; sorted
};

}  // namespace shardlab

// How likely a run fits its device, from the errors that earlier predictions had and the range of what
// libraries take. Pure; threads may share a value.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/units.h"

namespace shardlab {

// Real over predicted memory, as a distribution.
class MemoryErrors {
 public:
  // Ratios of runs of which both are known; without any the prediction is taken at its word.
  explicit MemoryErrors(std::vector<double> ratios);

  // How likely the ratio of another run is at most so much: of n ratios of which k are, (k + 1) / (n + 2),
  // which is the expected share where nothing but their order is known. Beyond the largest and the smallest
  // the last 1 / (n + 2) falls off exponentially in the logarithm, by how far the outer tenth lies beyond its
  // beginning.
  double at_most(double ratio) const;

  const std::vector<double>& sorted() const { return sorted_; }

 private:
  std::vector<double> sorted_;
  double scale_above_ = 0, scale_below_ = 0;  // of logarithms
};

// What a run takes beside the allocator: equally likely points between low, the expected and high.
std::vector<Bytes> equally_likely(Bytes low, Bytes expected, Bytes high);

// No promise is surer than that, either way.
inline constexpr double k_surest = 0.999;

// How likely a run works on a device of `limit`, of which the predicted one needs `need` for the allocator:
// its own need is that times a ratio, independent of what it takes beside. Between 1 - k_surest and k_surest.
double likelihood(Bytes limit, Bytes need, const MemoryErrors& errors, const std::vector<Bytes>& beside);

// The part of the sums of a ratio times `reserved` and what is beside that is at most the result.
Bytes sum_at_quantile(double part, Bytes reserved, const MemoryErrors& errors,
                      const std::vector<Bytes>& beside);

// The least allocator's memory, between what is known to fail and what is known to work, with which `works`
// holds, as close as `likelihood_of` tells it from the next: within half a percent, or the size of a segment.
// `tried` says what a run within so much has reserved at most, nothing where it failed. Returns a need that
// works.
Bytes least_need(Bytes fails, Bytes works, const std::function<double(Bytes)>& likelihood_of,
                 const std::function<std::optional<Bytes>(Bytes)>& tried);

}  // namespace shardlab

#include "engine/execute/torch/late_scalars.h"

#include <stdexcept>

namespace shardlab {

void LateScalars::read(const at::Tensor& value, std::function<void(double)> then) {
  const auto at = static_cast<std::int64_t>(then_.size());
  if (at >= host_.numel()) throw std::logic_error("more numbers are read in a step than there is room for");
  host_.narrow(0, at, 1).copy_(value.view({1}), /*non_blocking=*/true);
  then_.push_back(std::move(then));
}

void LateScalars::deliver() {
  const auto* values = host_.const_data_ptr<float>();
  for (std::size_t i = 0; i < then_.size(); ++i) then_[i](static_cast<double>(values[i]));
  then_.clear();
}

}  // namespace shardlab

#include "engine/execute/torch/late_scalars.h"

#include <stdexcept>

namespace shardlab {
namespace {

constexpr std::int64_t k_room = sizeof(double);

double number(const at::Tensor& host) {
  if (host.scalar_type() == at::kDouble) return *host.const_data_ptr<double>();
  return static_cast<double>(*host.const_data_ptr<float>());
}

}  // namespace

LateScalars::LateScalars(const ExecutionBackend& backend, std::int64_t most)
    : host_(backend.host_memory(most * k_room, at::kByte)) {}

void LateScalars::read(const at::Tensor& value, std::function<void(double)> then) {
  const auto at = static_cast<std::int64_t>(reads_.size()) * k_room;
  if (at >= host_.numel()) throw std::logic_error("more numbers are read in a step than there is room for");
  const auto bytes = static_cast<std::int64_t>(value.element_size());
  const at::Tensor place = host_.narrow(0, at, bytes).view(value.scalar_type());
  place.copy_(value.view({1}), /*non_blocking=*/true);
  reads_.push_back({place, std::move(then)});
}

void LateScalars::deliver() {
  for (const Read& read : reads_) read.then(number(read.host));
  reads_.clear();
}

}  // namespace shardlab

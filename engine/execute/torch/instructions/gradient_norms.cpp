// GradientNorms and ClipGradients: the norm over all trained parameters, and the scaling that keeps it below
// the limit; or the limit of each element.
//
// Source: torch 2.11, torch/nn/utils/clip_grad.py: coefficient = min(1, max_norm / (total_norm + 1e-6)).
#include <ATen/Dispatch.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/execute/torch/instructions/device_gradient_norms.h"
#include "engine/execute/torch/instructions/parameter_ranges.h"

namespace shardlab {
namespace {

// Sum of squares in double precision: the same to the last bits however the elements are split over ranks.
template <typename T>
double sum_of_squares(const T* values, std::int64_t count) {
  constexpr std::int64_t k_lanes = 8;
  std::array<double, k_lanes> sums{};
  std::int64_t i = 0;
  for (; i + k_lanes <= count; i += k_lanes) {
    for (std::int64_t lane = 0; lane < k_lanes; ++lane) {
      const auto value = static_cast<double>(static_cast<float>(values[i + lane]));
      sums[lane] += value * value;
    }
  }
  double total = 0;
  for (; i < count; ++i)
    total += static_cast<double>(static_cast<float>(values[i])) *
             static_cast<double>(static_cast<float>(values[i]));
  for (const double sum : sums) total += sum;
  return total;
}

struct GradientBuffer {
  Slot slot;
  std::vector<HeldRange> ranges;
};

constexpr std::size_t k_frozen = static_cast<std::size_t>(-1);

// By ParameterId: the parameter's place among the trained ones.
std::vector<std::size_t> places_of(const ModelGraph& graph) {
  std::vector<std::size_t> places;
  std::size_t trained = 0;
  for (const Parameter& parameter : graph.parameters)
    places.push_back(parameter.trainable ? trained++ : k_frozen);
  return places;
}

class GradientNorms : public Action {
 public:
  GradientNorms(const Site& site, Slot norms, std::vector<GradientBuffer> gradients)
      : buffers_(site.run.buffers),
        places_(places_of(site.run.planned.graph)),
        norms_(norms),
        gradients_(std::move(gradients)) {}

  void run(StepContext&) override {
    std::vector<double> squares(static_cast<std::size_t>(buffers_.tensor(norms_).numel()), 0.0);
    for (const GradientBuffer& gradient : gradients_) add_squares(gradient, squares);
    float* norms = buffers_.tensor(norms_).mutable_data_ptr<float>();
    for (std::size_t i = 0; i < squares.size(); ++i) norms[i] = static_cast<float>(squares[i]);
  }

 private:
  void add_squares(const GradientBuffer& gradient, std::vector<double>& squares) {
    const at::Tensor& flat = buffers_.tensor(gradient.slot);
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, flat.scalar_type(), "gradient_norms", [&] {
      const auto* values = flat.const_data_ptr<scalar_t>();
      for (const HeldRange& range : gradient.ranges) {
        const std::size_t place = places_[range.parameter.index()];
        if (place == k_frozen) continue;
        squares[squares.size() == 1 ? 0 : place] += sum_of_squares(values + range.offset, range.count);
      }
    });
  }

  BufferTable& buffers_;
  const std::vector<std::size_t> places_;
  const Slot norms_;
  const std::vector<GradientBuffer> gradients_;
};

class ClipGradients : public Action {
 public:
  ClipGradients(const Site& site, Slot norms, std::vector<Slot> gradients, double limit)
      : buffers_(site.run.buffers), norms_(norms), gradients_(std::move(gradients)), limit_(limit) {}

  void run(StepContext& step) override {
    step.gradient_norm = total_norm();
    const double coefficient = limit_ / (*step.gradient_norm + 1e-6);
    if (coefficient >= 1) return;
    for (const Slot gradient : gradients_) buffers_.tensor(gradient).mul_(coefficient);
  }

  void skip(StepContext& step) override { step.gradient_norm = total_norm(); }

 private:
  double total_norm() const {
    const at::Tensor& norms = buffers_.tensor(norms_);
    const float* squares = norms.const_data_ptr<float>();
    double total = 0;
    for (std::int64_t i = 0; i < norms.numel(); ++i) total += static_cast<double>(squares[i]);
    return std::sqrt(total);
  }

  BufferTable& buffers_;
  const Slot norms_;
  const std::vector<Slot> gradients_;
  const double limit_;
};

class ClipValues : public Action {
 public:
  ClipValues(const Site& site, std::vector<Slot> gradients, double limit)
      : buffers_(site.run.buffers), gradients_(std::move(gradients)), limit_(limit) {}

  void run(StepContext&) override {
    for (const Slot gradient : gradients_) buffers_.tensor(gradient).clamp_(-limit_, limit_);
  }

 private:
  BufferTable& buffers_;
  const std::vector<Slot> gradients_;
  const double limit_;
};

std::vector<GradientPiece> pieces_of(const std::vector<GradientBuffer>& gradients,
                                     const std::vector<std::size_t>& places) {
  std::vector<GradientPiece> pieces;
  for (const GradientBuffer& gradient : gradients) {
    for (const HeldRange& range : gradient.ranges) {
      const std::size_t place = places[range.parameter.index()];
      if (place != k_frozen) pieces.push_back({gradient.slot, range.offset, range.count, place});
    }
  }
  return pieces;
}

}  // namespace

PreparedAction prepare_gradient_norms(const Site& site) {
  const Instruction& instruction = site.instruction();
  const std::vector<std::size_t> places = places_of(site.run.planned.graph);
  const std::ptrdiff_t trained = std::ssize(places) - std::count(places.begin(), places.end(), k_frozen);
  if (instruction.writes.size() != 1) return site.defect("writes one buffer");
  const Buffer& norms = site.buffer(instruction.writes[0]);
  const bool fits = norms.elements == 1 || norms.elements == trained;
  if (!fits || norms.dtype != DType::float32)
    return site.defect("writes one float32 a trained parameter, or one for all");
  std::vector<GradientBuffer> gradients;
  for (const BufferId id : instruction.reads)
    gradients.push_back({site.slot(id), held_ranges(site.run, site.buffer(id))});
  const Slot norms_slot = site.slot(instruction.writes[0]);
  if (site.run.backend) return device_gradient_norms(site, norms_slot, pieces_of(gradients, places));
  return std::make_unique<GradientNorms>(site, norms_slot, std::move(gradients));
}

PreparedAction prepare_clip_gradients(const Site& site) {
  const Instruction& instruction = site.instruction();
  const TrainSpec& train = site.run.planned.scenario.train;
  Slot norms = k_no_slot;
  std::vector<Slot> gradients;
  for (const BufferId id : instruction.writes) gradients.push_back(site.slot(id));
  for (const BufferId id : instruction.reads) {
    if (site.buffer(id).role == BufferRole::norms) norms = site.slot(id);
  }
  if (train.clip_value) return std::make_unique<ClipValues>(site, std::move(gradients), *train.clip_value);
  if (!train.clip_norm || norms == k_no_slot)
    return site.defect("reads no norms, or there is no train.clip_norm");
  if (site.run.backend) return device_clip_gradients(site, norms, std::move(gradients), *train.clip_norm);
  return std::make_unique<ClipGradients>(site, norms, std::move(gradients), *train.clip_norm);
}

}  // namespace shardlab

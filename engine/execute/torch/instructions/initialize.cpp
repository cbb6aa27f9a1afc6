// Initialize: fills parameters (from the seed, or from safetensors), constants, and zeroes what has no value
// of its own.
//
// Each rank computes or reads only the rows it holds.
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <stdexcept>

#include "engine/checkpoint/model_weights.h"
#include "engine/execute/torch/instructions/parameter_ranges.h"
#include "engine/execute/torch/torch_dtype.h"
#include "engine/model/constants.h"
#include "engine/model/initial_weights.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_chunk = 1 << 18;  // elements converted at once

// Float32 values into a flat tensor of any dtype.
void store(const at::Tensor& to, std::int64_t offset, std::span<float> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  to.narrow(0, offset, count).copy_(at::from_blob(values.data(), {count}, at::kFloat));
}

class InitializeParameters : public Action {
 public:
  InitializeParameters(const Site& site, Slot slot, std::vector<HeldRange> ranges)
      : run_(site.run), slot_(slot), ranges_(std::move(ranges)) {}

  void run(StepContext&) override {
    const at::Tensor flat = run_.buffers.tensor(slot_);
    flat.zero_();
    std::vector<float> chunk;
    for (const HeldRange& range : ranges_) {
      for (std::int64_t done = 0; done < range.count; done += k_chunk) {
        chunk.resize(static_cast<std::size_t>(std::min(k_chunk, range.count - done)));
        fill(range, done, chunk);
        store(flat, range.offset + done, chunk);
      }
    }
  }

 private:
  void fill(const HeldRange& range, std::int64_t done, std::span<float> values) {
    const RunState::Origin& origin =
        run_.planned.graph.is_teachers(range.parameter) ? run_.teacher : run_.student;
    const Parameter& parameter = origin.names.parameters[range.parameter.index() - origin.first_parameter];
    if (!origin.weights || !has_parameter(*origin.weights, parameter)) {
      fill_initial_weights(run_.planned.graph.parameter(range.parameter),
                           static_cast<std::uint64_t>(run_.planned.scenario.train->seed), range.first + done,
                           values);
      return;
    }
    const Status read = read_parameter(*origin.weights, origin.names, parameter, range.first + done, values);
    if (!read) throw std::runtime_error(to_string(read.error()));
  }

  RunState& run_;
  const Slot slot_;
  const std::vector<HeldRange> ranges_;
};

class InitializeConstant : public Action {
 public:
  InitializeConstant(const Site& site, Slot slot, TensorId tensor)
      : run_(site.run), slot_(slot), tensor_(tensor) {}

  void run(StepContext&) override {
    const at::Tensor flat = run_.buffers.tensor(slot_).view({-1});
    std::vector<float> values(static_cast<std::size_t>(flat.numel()));
    fill_constant(run_.planned.graph.tensor(tensor_), values);
    store(flat, 0, values);
  }

 private:
  RunState& run_;
  const Slot slot_;
  const TensorId tensor_;
};

class InitializeZero : public Action {
 public:
  InitializeZero(const Site& site, Slot slot) : run_(site.run), slot_(slot) {}
  void run(StepContext&) override { run_.buffers.tensor(slot_).zero_(); }

 private:
  RunState& run_;
  const Slot slot_;
};

}  // namespace

PreparedAction prepare_initialize(const Site& site) {
  const Instruction& instruction = site.instruction();
  if (instruction.writes.size() != 1) return site.defect("initializes one buffer at a time");
  const BufferId id = instruction.writes.front();
  const Buffer& buffer = site.buffer(id);
  if (buffer.tensor) return std::make_unique<InitializeConstant>(site, site.slot(id), *buffer.tensor);
  const bool parameters =
      buffer.buffer_class == BufferClass::parameter || buffer.buffer_class == BufferClass::parameter_shard;
  if (!parameters) return std::make_unique<InitializeZero>(site, site.slot(id));
  return std::make_unique<InitializeParameters>(site, site.slot(id), held_ranges(site.run, buffer));
}

}  // namespace shardlab

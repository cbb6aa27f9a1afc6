#include "engine/execute/torch/whole_parameter.h"

#include <algorithm>
#include <exception>

#include <ATen/ops/empty.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include "engine/execute/torch/memory/memory_ledger.h"
#include "engine/execute/torch/step_failure.h"

namespace shardlab {
namespace {

Result<ParameterId> find_parameter(const ModelGraph& graph, std::string_view name) {
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
    if (graph.parameters[i].name == name) return make_id<ParameterId>(i);
  }
  return bad_input("parameter", fmt::format("the model has no parameter '{}'", name));
}

template <typename List, typename Value>
bool contains(const List& list, const Value& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// The parts of all ranks that shard, one rank after the other.
at::Tensor gather_parts(RunState& run, const at::Tensor& own, ParameterId parameter, int shards) {
  const at::Tensor gathered = at::empty({own.numel() * shards}, own.options());
  if (shards > 1) {
    const RankSet teachers{GroupDimension::shard, 0, true}, students{GroupDimension::shard};
    const bool apart = run.planned.graph.is_teachers(parameter) && run.communicators.contains(teachers);
    const auto pending = run.communicators.at(apart ? teachers : students)->all_gather(gathered, own);
    if (pending) pending->wait();
  } else {
    gathered.copy_(own);
  }
  return gathered;
}

at::Tensor gather(RunState& run, const Buffer& buffer, Slot slot, ParameterId parameter) {
  const Shape& shape = run.planned.graph.parameter(parameter).shape;
  const ParameterLayout layout = run.layout(buffer);
  const ParameterPiece piece =
      *std::find_if(layout.pieces.begin(), layout.pieces.end(),
                    [&](const ParameterPiece& p) { return p.parameter == parameter; });
  const at::Tensor file = buffer.space == MemorySpace::disk ? run.buffers.read_file(slot) : at::Tensor();
  const auto range = [&](std::int64_t first, std::int64_t count) {
    return file.defined() ? file.narrow(0, first, count) : run.buffers.range(slot, first, count);
  };
  const auto held = [&](std::int64_t offset) { return range(offset, piece.elements()).view(shape).clone(); };
  const auto gathered = [&](const at::Tensor& own, std::int64_t offset) {
    return gather_parts(run, own, parameter, layout.shards).narrow(0, offset, piece.elements()).view(shape);
  };
  switch (buffer.layout) {
    case BufferLayout::parameters:
    case BufferLayout::separate_parameters: return held(piece.offset);
    case BufferLayout::flat: return held(piece.flat_offset);
    case BufferLayout::flat_shard: return gathered(run.buffers.tensor(slot), piece.flat_offset);
    default: return gathered(range(piece.shard_offset, piece.shard_elements()), 0);
  }
}

}  // namespace

Result<at::Tensor> whole_parameter(RunState& run, StepRunner& runner, const PreparedPlan* plan,
                                   std::string_view name, std::initializer_list<BufferClass> classes) {
  if (plan == nullptr) return internal_error(std::string(name), "nothing has run yet");
  SHARDLAB_TRY(const ParameterId parameter, find_parameter(run.planned.graph, name));
  const c10::InferenceMode no_autograd;
  const MemoryLedger uncounted;  // what callers look at is theirs
  const LedgerScope scope(uncounted);
  try {
    for (std::size_t i = 0; i < plan->slots.size(); ++i) {
      const Buffer& buffer = plan->plan->buffers[i];
      const Slot slot = plan->slots[i];
      if (!contains(classes, buffer.buffer_class) || !contains(buffer.parameters, parameter) ||
          !run.buffers.is_alive(slot))
        continue;
      runner.settle();
      return gather(run, buffer, slot, parameter).to(at::kCPU);
    }
  } catch (const std::exception& error) {
    return run_failed(std::string(name), first_line(error.what()));
  }
  return internal_error(std::string(name), "no live buffer holds it");
}

}  // namespace shardlab

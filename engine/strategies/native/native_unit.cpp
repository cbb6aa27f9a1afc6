#include "engine/strategies/native/native_unit.h"

#include <algorithm>
#include <string_view>

#include "engine/scenario/model_spec.h"
#include "engine/strategies/parameter_buffers.h"

namespace shardlab::native {
namespace {

constexpr std::int64_t k_alignment_bytes = 16;

class Declarer {
 public:
  Declarer(StepBuilder& builder, UnitId id, const Scenario& scenario, const Mesh& mesh,
           const Streams& streams)
      : b_(builder),
        id_(id),
        unit_(builder.partition().unit(id)),
        scenario_(scenario),
        mesh_(mesh),
        streams_(streams) {}

  NativeUnit declare() {
    state_.has_parameters = !unit_.parameters.empty();
    state_.stored = scenario_.model->dtype;
    state_.param = unit_.settings.precision.param;
    state_.reduce = unit_.settings.precision.reduce;
    state_.reshard_after_forward = unit_.settings.reshard_after_forward.frees(id_ == b_.scope().root);
    state_.alignment = flat_alignment(b_, id_, mesh_.shards);
    state_.one_gradient_buffer = made_by_one_segment();
    state_.whole_gradient = mesh_.shards == 1 && state_.reduce == state_.stored;
    // What nobody shares is whole, and compute may read it.
    const BufferLayout layout = mesh_.shards > 1 ? BufferLayout::flat_shard : BufferLayout::flat;
    state_.shard = declare_persistent_buffer(
        b_, make("shard", BufferClass::parameter_shard, layout, state_.stored, StepBuilder::compute()));
    state_.full = state_.shard;
    if (b_.plan().phase != PlanPhase::setup) declare_step();
    return state_;
  }

 private:
  Buffer make(std::string_view prefix, BufferClass kind, BufferLayout layout, DType dtype,
              StreamId stream) const {
    return unit_buffer(b_, id_, prefix, kind, layout, dtype, mesh_.shards, stream, state_.alignment);
  }

  void declare_step() {
    if (mesh_.shards > 1 || state_.casts()) {
      state_.full = b_.declare(
          make("full", BufferClass::gathered_parameters, BufferLayout::flat, state_.param, streams_.gather));
    }
    if (b_.scope().forward_only) {  // no backward takes back what forward left
      if (state_.has_parameters && !state_.reshard_after_forward && !state_.shares_memory() && !b_.is_first())
        b_.carry(state_.full);
      return;
    }
    const BufferClass shard = BufferClass::gradient_shard;
    if (state_.whole_gradient) {
      state_.input = state_.gradient =
          b_.declare(make("gshard", shard, BufferLayout::flat, state_.stored, StepBuilder::compute()));
      return;
    }
    state_.input = b_.declare(
        make("rsin", BufferClass::reduce_buffer, BufferLayout::flat, state_.reduce, StepBuilder::compute()));
    state_.reduced =
        b_.declare(make("rsout", shard, BufferLayout::flat_shard, state_.reduce, streams_.reduce));
    state_.gradient =
        b_.declare(make("gshard", shard, BufferLayout::flat_shard, state_.stored, streams_.reduce));
  }

  bool made_by_one_segment() const {
    const std::vector<SegmentId>& segments = b_.partition().gradient_segment;
    const auto same = [&](ParameterId id) {
      return segments[id.index()] == segments[unit_.parameters.front().index()];
    };
    return !unit_.parameters.empty() && std::all_of(unit_.parameters.begin(), unit_.parameters.end(), same);
  }

  StepBuilder& b_;
  UnitId id_;
  const Unit& unit_;
  const Scenario& scenario_;
  const Mesh& mesh_;
  const Streams& streams_;
  NativeUnit state_;
};

}  // namespace

NativeUnit declare_native_unit(StepBuilder& builder, UnitId unit, const Scenario& scenario, const Mesh& mesh,
                               const Streams& streams) {
  return Declarer(builder, unit, scenario, mesh, streams).declare();
}

int flat_alignment(const StepBuilder& builder, UnitId id, int shards) {
  const Unit& unit = builder.partition().unit(id);
  const auto aligned = static_cast<int>(k_alignment_bytes / element_size(unit.settings.precision.param));
  const ParameterLayout layout = make_layout(builder.graph(), unit.parameters, shards, aligned);
  const ParameterLayout rows = make_layout(builder.graph(), unit.parameters, shards);
  return layout.flat_elements <= rows.gathered_elements() ? aligned : 1;
}

}  // namespace shardlab::native

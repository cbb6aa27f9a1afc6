#include <string_view>

#include "engine/strategies/fsdp1/flat_parameters.h"
#include "engine/strategies/fsdp1/flat_unit.h"
#include "engine/strategies/parameter_buffers.h"

namespace shardlab::fsdp1 {

namespace {

// Parameters begin on 16 bytes of the dtype that compute reads (fsdp/_flat_param.py, _get_aligned_numel).
constexpr std::int64_t k_alignment_bytes = 16;

class Declarer {
 public:
  Declarer(StepBuilder& builder, UnitId unit, const Settings& settings, const Streams& streams)
      : b_(builder),
        unit_(unit),
        s_(settings),
        streams_(streams),
        precision_(builder.partition().unit(unit).settings.precision) {}

  FlatUnit declare() {
    FlatUnit state;
    if (b_.partition().unit(unit_).ignored) {
      state.stored = state.full = declare_ignored_unit(b_, unit_);
      return state;
    }
    state.has_parameters = !b_.partition().unit(unit_).parameters.empty();
    state.trained = b_.partition().unit(unit_).parameters_require_grad;
    state.reentrant = is_run_by_reentrant_backward(b_.partition(), unit_);
    state.stored_dtype = s_.stored;
    state.param = precision_.param;
    state.reduce = precision_.reduce;
    state.stored = declare_persistent_buffer(b_, stored());
    if (b_.plan().phase == PlanPhase::setup) return state;
    declare_parameters(state);
    if (state.trained) declare_gradients(state);
    return state;
  }

  std::int64_t alignment() const {
    return s_.use_orig_params ? k_alignment_bytes / element_size(precision_.param) : 1;
  }
  // Unsharded flat vectors are padded too where use_orig_params makes padding part of them.
  int whole_shards() const { return s_.sharded || s_.use_orig_params ? s_.shards : 1; }

 private:
  Buffer buffer(std::string_view prefix, BufferClass kind, BufferLayout layout, DType dtype,
                StreamId stream) const {
    const int shards = layout == BufferLayout::flat_shard ? s_.shards : whole_shards();
    return unit_buffer(b_, unit_, prefix, kind, layout, dtype, shards, stream, static_cast<int>(alignment()));
  }

  // What lives on the host under CPUOffload.
  Buffer at_rest(Buffer buffer) const {
    if (!streams_.host) return buffer;
    buffer.space = streams_.host->space;
    buffer.stream = streams_.host->stream;
    return buffer;
  }

  Buffer stored() const {
    const StreamId compute = StepBuilder::compute();
    if (s_.sharded)
      return at_rest(
          buffer("shard", BufferClass::parameter_shard, BufferLayout::flat_shard, s_.stored, compute));
    return buffer("param", BufferClass::parameter, BufferLayout::flat, s_.stored, compute);
  }

  void declare_parameters(FlatUnit& state) const {
    state.full = state.stored;
    if (s_.sharded || state.casts()) {
      state.full = b_.declare(buffer("full", BufferClass::gathered_parameters, BufferLayout::flat,
                                     precision_.param, s_.sharded ? streams_.unshard : streams_.pre_unshard));
    }
    if (streams_.host) {
      state.arrived = b_.declare(buffer("arrived", BufferClass::gather_buffer, BufferLayout::flat_shard,
                                        s_.stored, streams_.pre_unshard));
    }
    state.cast = b_.declare(buffer("cast", BufferClass::gather_buffer, BufferLayout::flat_shard,
                                   precision_.param, streams_.pre_unshard));
  }

  void declare_gradients(FlatUnit& state) const {
    const StreamId compute = StepBuilder::compute(), post = streams_.post_backward;
    const BufferLayout unpadded = s_.use_orig_params ? BufferLayout::flat : BufferLayout::parameters;
    state.flat_gradient =
        b_.declare(buffer("flatgrad", BufferClass::gradient, unpadded, precision_.param, compute));
    state.new_flat_gradient =
        b_.declare(buffer("newgrad", BufferClass::gradient, unpadded, precision_.param, compute));
    state.cast_gradient =
        b_.declare(buffer("castgrad", BufferClass::reduce_buffer, unpadded, precision_.reduce, post));
    state.padded_gradient = b_.declare(
        buffer("padgrad", BufferClass::reduce_buffer, BufferLayout::flat, precision_.reduce, post));
    state.reduced = b_.declare(
        buffer("rsout", BufferClass::gradient_shard, BufferLayout::flat_shard, precision_.reduce, post));
    state.stored_gradient = b_.declare(
        buffer("rsstored", BufferClass::gradient_shard, BufferLayout::flat_shard, s_.stored, post));
    state.gradient_views =
        b_.declare(buffer("gradviews", BufferClass::workspace, BufferLayout::flat_shard, s_.stored, compute));
    state.gradient = reduced_gradient(state);
    if (!streams_.host) return;
    Buffer on_host = at_rest(
        buffer("hostgrad", BufferClass::gradient_shard, BufferLayout::flat_shard, s_.stored, compute));
    state.host_gradient =
        b_.is_first() ? b_.declare(std::move(on_host)) : b_.declare_carried(std::move(on_host));
  }

  BufferId reduced_gradient(const FlatUnit& state) const {
    const bool outlives = s_.use_orig_params && !b_.is_first() && !streams_.host;
    const auto declare = [&](Buffer buffer) {
      return outlives ? b_.declare_carried(std::move(buffer)) : b_.declare(std::move(buffer));
    };
    if (s_.sharded)
      return declare(buffer("gshard", BufferClass::gradient_shard, BufferLayout::flat_shard, s_.stored,
                            streams_.post_backward));
    if (s_.stored == state.reduce && state.reduce == precision_.param) {
      if (outlives) b_.carry(state.flat_gradient);
      return state.flat_gradient;
    }
    const BufferLayout unpadded = s_.use_orig_params ? BufferLayout::flat : BufferLayout::parameters;
    if (s_.stored == state.reduce) {
      b_.plan().buffers[state.cast_gradient.index()].buffer_class = BufferClass::gradient;
      if (outlives) b_.carry(state.cast_gradient);
      return state.cast_gradient;
    }
    return declare(buffer("gwhole", BufferClass::gradient, unpadded, s_.stored, streams_.post_backward));
  }

  StepBuilder& b_;
  UnitId unit_;
  const Settings& s_;
  const Streams& streams_;
  const UnitPrecision& precision_;
};

}  // namespace

FlatUnit declare_unit(StepBuilder& builder, UnitId unit, const Settings& settings, const Streams& streams) {
  return Declarer(builder, unit, settings, streams).declare();
}

std::int64_t flat_elements(const StepBuilder& builder, UnitId unit, const Settings& settings) {
  if (builder.partition().unit(unit).ignored) return builder.partition().unit(unit).elements(builder.graph());
  const DType param = builder.partition().unit(unit).settings.precision.param;
  const std::int64_t alignment = settings.use_orig_params ? k_alignment_bytes / element_size(param) : 1;
  const int shards = settings.sharded || settings.use_orig_params ? settings.shards : 1;
  return make_layout(builder.graph(), builder.partition().unit(unit).parameters, shards,
                     static_cast<int>(alignment))
      .flat_elements;
}

}  // namespace shardlab::fsdp1

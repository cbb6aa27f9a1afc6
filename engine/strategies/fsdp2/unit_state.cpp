#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "engine/scenario/model_spec.h"
#include "engine/strategies/fsdp2/unit_state.h"
#include "engine/strategies/parameter_buffers.h"

namespace shardlab::fsdp2 {

namespace {

class Declarer {
 public:
  Declarer(StepBuilder& builder, UnitId unit, const Scenario& scenario, const Mesh& mesh,
           const Streams& streams)
      : b_(builder), unit_(unit), scenario_(scenario), mesh_(mesh), streams_(streams) {}

  UnitState declare() {
    const Unit& unit = b_.partition().unit(unit_);
    UnitState state;
    if (unit.ignored) {
      state.shard = state.full = declare_ignored_unit(b_, unit_);
      return state;
    }
    state.has_parameters = !unit.parameters.empty();
    state.stored = scenario_.model->dtype;
    state.param = unit.settings.precision.param;
    state.reduce = unit.settings.precision.reduce;
    state.shard = declare_persistent_buffer(
        b_, at_rest(make("shard", BufferClass::parameter_shard, BufferLayout::row_shards, state.stored,
                         StepBuilder::compute())));
    if (b_.plan().phase == PlanPhase::setup) return state;
    if (!trained_.empty()) state.last_with_gradient = trained_.back();
    declare_resharding(state, unit.settings.reshard_after_forward);
    declare_gathering(state);
    if (b_.scope().forward_only) {
      carry_over(state);
    } else {
      declare_reducing(state);
    }
    return state;
  }

 private:
  // Rows are padded to a multiple of the ranks that shard wherever parameters stand whole, too: fully_shard's
  // per-parameter tensors are parts of padded ones (_fsdp_param.py, init_all_gather_outputs).
  Buffer make(std::string_view prefix, BufferClass kind, BufferLayout layout, DType dtype, StreamId stream,
              int shards = 0) const {
    return unit_buffer(b_, unit_, prefix, kind, layout, dtype, shards == 0 ? mesh_.shards : shards, stream,
                       mesh_.shards);
  }

  // What lives on the host under CPUOffloadPolicy.
  Buffer at_rest(Buffer buffer) const {
    if (!streams_.host) return buffer;
    buffer.space = streams_.host->space;
    buffer.stream = streams_.host->stream;
    return buffer;
  }

  // A buffer for each of the parameters.
  std::vector<BufferId> declare_each(const std::vector<ParameterId>& parameters, std::string_view prefix,
                                     BufferClass kind, DType dtype, MemorySpace space,
                                     StreamId stream) const {
    std::vector<BufferId> each;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      Buffer buffer = unit_buffer(b_, unit_, {parameters[i]}, prefix, kind, BufferLayout::row_shards, dtype,
                                  mesh_.shards, stream, mesh_.shards);
      buffer.name += fmt::format(".{}", i);
      buffer.space = space;
      each.push_back(b_.declare(std::move(buffer)));
    }
    return each;
  }

  void declare_resharding(UnitState& state, const ReshardAfterForward& setting) const {
    // fully_shard's None: true, for the root false (_fsdp_state.py, _lazy_init, _auto_reshard_after_forward).
    state.reshard_after_forward = setting.frees(unit_ == b_.scope().root);
    if (setting.kind != ReshardKind::to_ranks) return;
    const int parts = setting.ranks;
    state.forward_group = b_.add_part_group(GroupDimension::shard, parts);
    state.kept = b_.declare(make("kept", BufferClass::gathered_parameters, BufferLayout::row_shards,
                                 state.param, StepBuilder::compute(), parts));
    // _get_param_all_gather_inputs copies what was kept only where the parameters are on the device.
    state.kept_cast = !state.casts() || streams_.host
                          ? state.kept
                          : b_.declare(make("keptcast", BufferClass::gather_buffer, BufferLayout::row_shards,
                                            state.param, streams_.copy_in, parts));
    state.kept_gathered =
        b_.declare(make("keptgathered", BufferClass::gather_buffer, BufferLayout::gathered_row_shards,
                        state.param, streams_.copy_in, parts));
  }

  void declare_gathering(UnitState& state) const {
    const BufferClass gather = BufferClass::gather_buffer;
    const StreamId copies = mesh_.shards == 1 ? StepBuilder::compute() : streams_.copy_in;
    state.cast = !state.casts() && !streams_.host
                     ? state.shard
                     : b_.declare(make(state.casts() ? "cast" : "arrived", gather, BufferLayout::row_shards,
                                       state.param, copies));
    if (state.casts() && streams_.host) {
      state.arrived = declare_each(b_.partition().unit(unit_).parameters, "arrived", gather, state.stored,
                                   MemorySpace::device, copies);
    }
    state.gathered = b_.declare(
        make("gathered", gather, BufferLayout::gathered_row_shards, state.param, streams_.copy_in));
    state.full = b_.declare(make("full", BufferClass::gathered_parameters, BufferLayout::parameters,
                                 state.param, StepBuilder::compute()));
  }

  // What forward leaves nobody takes back before the next one: it is there from the second step on.
  void carry_over(const UnitState& state) const {
    if (b_.is_first() || !state.has_parameters) return;
    if (!state.reshard_after_forward) b_.carry(state.full);
    if (state.forward_group) b_.carry(state.kept);
  }

  // Frozen parameters are sharded and gathered like the others, but have no part in reductions.
  Buffer make_reduced(std::string_view prefix, BufferClass kind, BufferLayout layout, DType dtype,
                      StreamId stream) const {
    return unit_buffer(b_, unit_, trained_, prefix, kind, layout, dtype, mesh_.shards, stream, mesh_.shards);
  }

  void declare_reducing(UnitState& state) const {
    const BufferClass gradient = BufferClass::gradient_shard;
    const StreamId stream = streams_.reduce_scatter;
    state.reduce_input =
        b_.declare(make_reduced("rsin", BufferClass::reduce_buffer, BufferLayout::gathered_row_shards,
                                state.reduce, StepBuilder::compute()));
    state.reduced =
        b_.declare(make_reduced("rsout", gradient, BufferLayout::row_shards, state.reduce, stream));
    state.partial =
        b_.declare(make_reduced("partial", gradient, BufferLayout::row_shards, state.reduce, stream));
    state.gradient =
        b_.declare(at_rest(make_reduced("gshard", gradient, BufferLayout::row_shards, state.stored, stream)));
    if (!streams_.host) return;
    state.converted = state.reduce == state.stored
                          ? state.reduced
                          : b_.declare(make_reduced("gcast", gradient, BufferLayout::row_shards, state.stored,
                                                    mesh_.replicate ? streams_.all_reduce : stream));
    // A blocking copy makes pageable memory (Tensor.to()).
    state.more = declare_each(trained_, "more", gradient, state.stored, MemorySpace::pageable_host,
                              streams_.host->stream);
  }

  StepBuilder& b_;
  UnitId unit_;
  const Scenario& scenario_;
  const Mesh& mesh_;
  const Streams& streams_;
  const std::vector<ParameterId> trained_ = parameters_with_gradients(b_, unit_);
};

}  // namespace

UnitState declare_group(StepBuilder& builder, UnitId unit, const Scenario& scenario, const Mesh& mesh,
                        const Streams& streams) {
  return Declarer(builder, unit, scenario, mesh, streams).declare();
}

}  // namespace shardlab::fsdp2

#include "engine/strategies/zero12/flat_group.h"

#include <utility>

#include "engine/strategies/gradient_order.h"
#include "engine/strategies/parameter_buffers.h"

namespace shardlab {
namespace {

constexpr int k_start_alignment = 2;  // nccl_start_alignment_factor

// _round_robin_reorder: every `ranks`-th parameter, then those after them.
std::vector<ParameterId> in_flat_order(const ModelGraph& graph, int ranks, bool round_robin) {
  std::vector<ParameterId> parameters = parameters_with_gradients(graph);
  if (!round_robin) return parameters;
  std::vector<ParameterId> reordered;
  const auto stride = static_cast<std::size_t>(ranks);
  for (std::size_t first = 0; first < stride; ++first) {
    for (std::size_t i = first; i < parameters.size(); i += stride) reordered.push_back(parameters[i]);
  }
  return reordered;
}

}  // namespace

std::optional<BufferId> declare_frozen(StepBuilder& builder, UnitId root, DType dtype) {
  std::vector<ParameterId> frozen = parameters_without_gradients(builder.graph());
  if (frozen.empty()) return std::nullopt;
  return declare_persistent_buffer(
      builder, unit_buffer(builder, root, std::move(frozen), "frozen", BufferClass::parameter,
                           BufferLayout::parameters, dtype, 1, StepBuilder::compute()));
}

FlatGroup::FlatGroup(StepBuilder& builder, UnitId root, int ranks, GroupId group,
                     std::optional<HostState> host, bool round_robin)
    : b_(builder),
      root_(root),
      ranks_(ranks),
      group_(group),
      host_(host),
      dtype_(builder.partition().unit(root).settings.precision.param),
      parameters_(in_flat_order(builder.graph(), ranks, round_robin)),
      layout_(make_layout(builder.graph(), parameters_, ranks, 1, k_start_alignment)) {
  // The master stands first: who asks for a parameter's value takes the exact one.
  Buffer master = part("master", BufferClass::parameter_shard, DType::float32);
  if (host_) place_on_host(master, *host_);
  const bool setup = builder.plan().phase == PlanPhase::setup;
  master_ = setup ? builder.declare(std::move(master)) : builder.declare_carried(std::move(master));
  weights_ =
      declare_persistent_buffer(builder, like("weights", BufferClass::parameter, BufferLayout::flat, dtype_));
  if (setup) copy_out();
  if (!host_) return;
  Buffer updated = part("updated", BufferClass::parameter_shard, dtype_);
  place_on_host(updated, *host_);
  updated_ = declare_persistent_buffer(builder, std::move(updated));
}

Buffer FlatGroup::like(std::string name, BufferClass buffer_class, BufferLayout layout, DType dtype) const {
  Buffer buffer;
  buffer.name = std::move(name);
  buffer.buffer_class = buffer_class;
  buffer.dtype = dtype;
  buffer.layout = layout;
  buffer.parameters = parameters_;
  buffer.shards = ranks_;
  buffer.end_alignment = k_start_alignment;
  buffer.elements = elements_of(layout_, layout);
  buffer.unit = root_;
  return buffer;
}

Buffer FlatGroup::part(std::string name, BufferClass buffer_class, DType dtype) const {
  return like(std::move(name), buffer_class, BufferLayout::flat_shard, dtype);
}

Buffer FlatGroup::whole(std::string name, BufferClass buffer_class, DType dtype) const {
  return like(std::move(name), buffer_class, BufferLayout::flat, dtype);
}

// The weights have been rounded to their dtype before the master is cut from them.
void FlatGroup::copy_out() {
  Instruction copy = make_copy(b_, root_, {weights_}, {master_});
  copy.allocates = {master_};
  b_.emit(std::move(copy));
}

// On the host first: it rounds the master, and the device takes what is rounded.
BufferId FlatGroup::updated_part() {
  if (!host_) return master_;
  Instruction round = make_copy(b_, root_, {master_}, {*updated_});
  round.stream = host_->stream;
  b_.emit(std::move(round));
  return *updated_;
}

void FlatGroup::gather() {
  Instruction copy = make_copy(b_, root_, {updated_part()}, {weights_});
  copy.bytes = bytes_of(layout_.flat_shard_elements(), dtype_);  // this rank's part of them
  b_.emit(std::move(copy));
  Instruction gather;
  gather.kind = InstructionKind::AllGather;
  gather.unit = root_;
  gather.group = group_;
  gather.bytes = b_.plan().buffer(weights_).bytes();
  gather.reads = gather.writes = {weights_};
  b_.emit(std::move(gather));
}

}  // namespace shardlab

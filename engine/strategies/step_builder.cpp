#include "engine/strategies/step_builder.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "engine/model/join_teacher.h"

namespace shardlab {
namespace {

template <typename Table>
std::optional<BufferId>& slot(Table& table, int micro_batch, std::size_t index, std::size_t width) {
  const auto at = static_cast<std::size_t>(micro_batch);
  if (table.size() <= at) table.resize(at + 1);
  if (table[at].empty()) table[at].resize(width);
  return table[at][index];
}

}  // namespace

StepBuilder::StepBuilder(const ModelGraph& graph, const Partition& partition, PlanPhase phase,
                         std::string strategy)
    : graph_(graph), partition_(partition), tensor_names_(graph.tensors.size()) {
  plan_.phase = phase;
  plan_.strategy = std::move(strategy);
  plan_.instructions.reserve(partition.units.size() * 40);
  plan_.buffers.reserve(partition.units.size() * 16);
  for (std::size_t i = 0; i < partition.units.size(); ++i) scope_.units.push_back(make_id<UnitId>(i));
  add_stream("compute");
  name_constants();
  for (const Segment& segment : partition.segments) {
    for (std::size_t i = 0; i < segment.outputs.size(); ++i) {
      std::string& name = tensor_names_[segment.outputs[i].index()];
      name = segment.name;
      if (segment.outputs.size() > 1) name += '.' + std::to_string(i);
    }
    for (std::size_t i = 0; i < segment.retained.size(); ++i) {
      std::string& name = tensor_names_[segment.retained[i].index()];
      if (name.empty()) name = segment.name + ".retained" + std::to_string(i);
    }
  }
}

// Those of one label, as the scales of every weight in four bits, are numbered from the second on.
void StepBuilder::name_constants() {
  std::map<std::string, int> earlier;
  for (std::size_t i = 0; i < graph_.tensors.size(); ++i) {
    const Tensor& tensor = graph_.tensors[i];
    if (tensor.role != TensorRole::constant) continue;
    const std::string whose =
        fmt::format("constant.{}", graph_.is_teachers(make_id<TensorId>(i)) ? k_teacher_prefix : "");
    const int number = earlier[fmt::format("{}{}", whose, tensor.label)]++;
    tensor_names_[i] = number == 0 ? fmt::format("{}{}", whose, tensor.label)
                                   : fmt::format("{}{}.{}", whose, number, tensor.label);
  }
}

StreamId StepBuilder::add_stream(std::string_view name) {
  plan_.streams.push_back(stream_called(scope_.stream_prefix + std::string(name)));
  last_on_stream_.emplace_back();
  stream_waits_.emplace_back();
  return make_id<StreamId>(plan_.streams.size() - 1);
}

GroupId StepBuilder::add_group(GroupDimension dimension, int size) {
  return find_or_add({dimension, 0, scope_.teachers_mesh}, size);
}

GroupId StepBuilder::add_part_group(GroupDimension dimension, int size) {
  return find_or_add({dimension, size, scope_.teachers_mesh}, size);
}

GroupId StepBuilder::add_group_across(GroupDimension dimension, int part, int size) {
  return find_or_add({dimension, part, scope_.teachers_mesh, true}, size);
}

GroupId StepBuilder::find_or_add(const RankSet& ranks, int size) {
  for (std::size_t i = 0; i < plan_.groups.size(); ++i) {
    if (plan_.groups[i].ranks == ranks) return make_id<GroupId>(i);
  }
  plan_.groups.push_back({ranks, size});
  return make_id<GroupId>(plan_.groups.size() - 1);
}

void StepBuilder::set_pass(std::string_view name) {
  const auto found = std::find(plan_.passes.begin(), plan_.passes.end(), name);
  pass_ = static_cast<std::uint16_t>(found - plan_.passes.begin());
  if (found == plan_.passes.end()) plan_.passes.emplace_back(name);
}

BufferId StepBuilder::declare(Buffer buffer) {
  plan_.buffers.push_back(std::move(buffer));
  live_.push_back(plan_.buffers.back().carried);
  return make_id<BufferId>(plan_.buffers.size() - 1);
}

BufferId StepBuilder::declare_carried(Buffer buffer) {
  buffer.carried = true;
  return declare(std::move(buffer));
}

void StepBuilder::carry(BufferId buffer) {
  plan_.buffers[buffer.index()].carried = true;
  live_[buffer.index()] = true;
}

InstructionId StepBuilder::emit(Instruction instruction) {
  const auto id = make_id<InstructionId>(plan_.instructions.size());
  // A HostWait holds the host, not the stream it stands on.
  if (instruction.kind != InstructionKind::HostWait) {
    for (const InstructionId wait : std::exchange(stream_waits_[instruction.stream.index()], {})) {
      if (std::find(instruction.waits.begin(), instruction.waits.end(), wait) == instruction.waits.end()) {
        instruction.waits.push_back(wait);
      }
    }
  }
  instruction.pass = pass_;
  for (const BufferId buffer : instruction.allocates) live_[buffer.index()] = true;
  for (const BufferId buffer : instruction.frees) live_[buffer.index()] = false;
  // Host work that holds no stream is nothing that a stream could be waited for.
  const bool is_work = !is_host_only(instruction.kind) ||
                       (instruction.kind == InstructionKind::Free && !instruction.waits.empty());
  if (is_work) last_on_stream_[instruction.stream.index()] = id;
  plan_.instructions.push_back(std::move(instruction));
  return id;
}

InstructionId StepBuilder::free(std::initializer_list<BufferId> buffers,
                                std::initializer_list<InstructionId> waits) {
  return free(std::vector<BufferId>(buffers), std::vector<InstructionId>(waits));
}

InstructionId StepBuilder::free(std::vector<BufferId> buffers, std::vector<InstructionId> waits) {
  Instruction instruction;
  instruction.kind = InstructionKind::Free;
  const Buffer& first = plan_.buffer(buffers.front());
  instruction.stream = first.stream;
  instruction.unit = first.unit;
  instruction.frees = std::move(buffers);
  instruction.waits = std::move(waits);
  return emit(std::move(instruction));
}

void StepBuilder::wait(StreamId who, StreamId on) {
  std::vector<InstructionId>& waits = stream_waits_[who.index()];
  if (const std::optional<InstructionId> last = last_on(on)) waits.push_back(*last);
  // What `on` itself is told to wait for may not stand on it yet.
  const std::vector<InstructionId>& inherited = stream_waits_[on.index()];
  waits.insert(waits.end(), inherited.begin(), inherited.end());
}

std::optional<InstructionId> StepBuilder::last_on(StreamId stream) const {
  return last_on_stream_[stream.index()];
}

BufferId StepBuilder::value_buffer(TensorId tensor, int micro_batch) {
  return declare_tensor(tensor, micro_batch, TensorBuffer::value);
}
BufferId StepBuilder::gradient_buffer(TensorId tensor, int micro_batch) {
  return declare_tensor(tensor, micro_batch, TensorBuffer::gradient);
}
BufferId StepBuilder::recomputed_buffer(TensorId tensor, int micro_batch) {
  return declare_tensor(tensor, micro_batch, TensorBuffer::recomputed);
}

BufferId StepBuilder::offloaded_buffer(TensorId tensor, int micro_batch) {
  return declare_tensor(tensor, micro_batch, TensorBuffer::offloaded);
}
BufferId StepBuilder::returned_buffer(TensorId tensor, int micro_batch) {
  return declare_tensor(tensor, micro_batch, TensorBuffer::returned);
}

BufferId StepBuilder::declare_tensor(TensorId id, int micro_batch, TensorBuffer kind) {
  const Tensor& tensor = graph_.tensor(id);
  const bool constant = tensor.role == TensorRole::constant;
  const bool gradient = kind == TensorBuffer::gradient;
  std::optional<BufferId>& known = slot(tensors_[static_cast<std::size_t>(kind)], constant ? 0 : micro_batch,
                                        id.index(), graph_.tensors.size());
  if (known) return *known;
  Buffer buffer;
  buffer.dtype = tensor.dtype;
  buffer.elements = element_count(tensor.shape);
  buffer.tensor = id;
  if (constant) {
    buffer.name = tensor_names_[id.index()];
    buffer.buffer_class = BufferClass::constant;
    buffer.carried = true;
    return *(known = declare(std::move(buffer)));
  }
  buffer.micro_batch = micro_batch;
  if (kind == TensorBuffer::offloaded) buffer.space = MemorySpace::pinned_host;
  buffer.buffer_class = gradient ? BufferClass::activation_gradient : BufferClass::activation;
  if (tensor.role == TensorRole::tokens || tensor.role == TensorRole::targets) {
    buffer.buffer_class = BufferClass::batch;
    buffer.name = fmt::format("{}.mb{}", tensor.label, micro_batch);
  } else if (id == graph_.loss) {
    buffer.buffer_class = BufferClass::scalar;
    buffer.name = fmt::format("loss.mb{}", micro_batch);
  } else {
    buffer.name = fmt::format("{}.{}.mb{}", k_prefixes[static_cast<std::size_t>(kind)],
                              tensor_names_[id.index()], micro_batch);
  }
  return *(known = declare(std::move(buffer)));
}

BufferId StepBuilder::saved_buffer(SegmentId id, int micro_batch) {
  std::optional<BufferId>& known = slot(saved_, micro_batch, id.index(), partition_.segments.size());
  if (known) return *known;
  const Segment& segment = partition_.segment(id);
  Buffer buffer;
  buffer.name = fmt::format("saved.{}.mb{}", segment.name, micro_batch);
  buffer.buffer_class = BufferClass::activation;
  buffer.dtype = DType::uint8;
  buffer.elements = segment.programs.saved_bytes.value;
  buffer.saved_by = id;
  buffer.micro_batch = micro_batch;
  return *(known = declare(std::move(buffer)));
}

StepPlan StepBuilder::finish() {
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) plan_.buffers[i].kept = live_[i];
  return std::move(plan_);
}

}  // namespace shardlab

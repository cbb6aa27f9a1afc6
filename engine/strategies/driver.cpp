#include "engine/strategies/driver.h"

#include <algorithm>

namespace shardlab {
namespace {

// First and last segment of every unit, inner units counted in: when execution enters and leaves its module.
struct UnitExtent {
  std::uint32_t first = 0xffffffffU;
  std::uint32_t last = 0;
};

class Driver {
 public:
  Driver(StepBuilder& builder, Strategy& strategy, const TrainSpec& train)
      : b_(builder), strategy_(strategy), train_(train), graph_(builder.graph()), partition_(builder.partition()) {
    find_extents();
  }

  void run() {
    for (int micro_batch = 0; micro_batch < train_.accumulation; ++micro_batch) {
      const bool last = micro_batch + 1 == train_.accumulation;
      micro_batch_ = micro_batch;
      b_.set_pass("segments");
      load_batch();
      b_.set_pass(b_.plan().strategy);
      strategy_.begin_micro_batch(micro_batch, last || train_.sync == "every");
      forward();
      backward();
    }
  }

 private:
  void find_extents() {
    extents_.resize(partition_.units.size());
    for (std::size_t i = 0; i < partition_.segments.size(); ++i) {
      std::optional<ModuleId> module = partition_.unit(partition_.segments[i].unit).module;
      for (; module; module = graph_.module(*module).parent) grow(*module, static_cast<std::uint32_t>(i));
    }
    enters_.resize(partition_.segments.size());
    leaves_.resize(partition_.segments.size());
    for (std::size_t u = 0; u < extents_.size(); ++u) {
      if (extents_[u].first == 0xffffffffU) continue;
      enters_[extents_[u].first].push_back(make_id<UnitId>(u));  // outer units come first: they have lower ids
      leaves_[extents_[u].last].insert(leaves_[extents_[u].last].begin(), make_id<UnitId>(u));
    }
  }

  void grow(ModuleId module, std::uint32_t segment) {
    if (unit_of_module_.empty()) {
      unit_of_module_.resize(graph_.modules.size());
      for (std::size_t u = 0; u < partition_.units.size(); ++u) {
        unit_of_module_[partition_.units[u].module.index()] = make_id<UnitId>(u);
      }
    }
    const std::optional<UnitId> unit = unit_of_module_[module.index()];
    if (!unit) return;
    extents_[unit->index()].first = std::min(extents_[unit->index()].first, segment);
    extents_[unit->index()].last = std::max(extents_[unit->index()].last, segment);
  }

  void load_batch() {
    Instruction load;
    load.kind = InstructionKind::LoadBatch;
    load.micro_batch = micro_batch_;
    for (std::size_t i = 0; i < graph_.tensors.size() && i < 8; ++i) {
      const TensorRole role = graph_.tensors[i].role;
      if (role != TensorRole::tokens && role != TensorRole::targets) continue;
      load.allocates.push_back(b_.value_buffer(make_id<TensorId>(i), micro_batch_));
      load.bytes += graph_.tensors[i].bytes();
    }
    load.writes = load.allocates;
    b_.emit(std::move(load));
  }

  void forward() {
    for (std::size_t i = 0; i < partition_.segments.size(); ++i) {
      for (const UnitId unit : enters_[i]) strategy_.pre_forward(unit);
      emit_forward(make_id<SegmentId>(i));
      for (const UnitId unit : leaves_[i]) strategy_.post_forward(unit);
    }
  }

  void backward() {
    for (std::size_t i = partition_.segments.size(); i-- > 0;) {
      for (auto unit = leaves_[i].rbegin(); unit != leaves_[i].rend(); ++unit) strategy_.pre_backward(*unit);
      emit_backward(make_id<SegmentId>(i));
      strategy_.gradients_ready(make_id<SegmentId>(i));
      for (auto unit = enters_[i].rbegin(); unit != enters_[i].rend(); ++unit) {
        if (*unit != Partition::root()) strategy_.post_backward(*unit);
      }
    }
    strategy_.end_of_backward();
  }

  // Buffers of the units whose parameters the segment uses.
  std::vector<BufferId> parameter_buffers(const Segment& segment) const {
    std::vector<BufferId> buffers;
    for (const ParameterId parameter : segment.parameters) {
      const BufferId buffer = strategy_.compute_parameters(partition_.unit_of_parameter[parameter.index()]);
      if (std::find(buffers.begin(), buffers.end(), buffer) == buffers.end()) buffers.push_back(buffer);
    }
    return buffers;
  }

  void emit_forward(SegmentId id) {
    const Segment& segment = partition_.segment(id);
    Instruction instruction;
    instruction.kind = InstructionKind::Forward;
    instruction.unit = segment.unit;
    instruction.segment = id;
    instruction.micro_batch = micro_batch_;
    instruction.reads = parameter_buffers(segment);
    for (const TensorId tensor : segment.inputs) instruction.reads.push_back(b_.value_buffer(tensor, micro_batch_));
    for (const TensorId tensor : segment.outputs) instruction.allocates.push_back(b_.value_buffer(tensor, micro_batch_));
    instruction.allocates.push_back(b_.saved_buffer(id, micro_batch_));
    instruction.writes = instruction.allocates;
    emit_as_segment(std::move(instruction));
  }

  void emit_backward(SegmentId id) {
    const Segment& segment = partition_.segment(id);
    Instruction instruction;
    instruction.kind = InstructionKind::Backward;
    instruction.unit = segment.unit;
    instruction.segment = id;
    instruction.micro_batch = micro_batch_;
    instruction.reads = parameter_buffers(segment);
    const BufferId saved = b_.saved_buffer(id, micro_batch_);
    instruction.reads.push_back(saved);
    instruction.frees.push_back(saved);
    for (const TensorId tensor : segment.programs.backward_reads) {
      instruction.reads.push_back(b_.value_buffer(tensor, micro_batch_));
    }
    for (const TensorId tensor : segment.programs.gradient_inputs) {
      instruction.reads.push_back(b_.gradient_buffer(tensor, micro_batch_));
      instruction.frees.push_back(instruction.reads.back());
    }
    write_parameter_gradients(segment, instruction);
    for (const TensorId tensor : segment.programs.gradient_outputs) write(b_.gradient_buffer(tensor, micro_batch_), instruction);
    emit_as_segment(std::move(instruction));
  }

  void write_parameter_gradients(const Segment& segment, Instruction& instruction) {
    for (const ParameterId parameter : segment.parameters) {
      const BufferId buffer = strategy_.gradient_buffer(parameter);
      const auto& writes = instruction.writes;
      if (std::find(writes.begin(), writes.end(), buffer) == writes.end()) write(buffer, instruction);
    }
  }

  // A gradient that is alive is added to, hence read as well.
  void write(BufferId buffer, Instruction& instruction) const {
    instruction.writes.push_back(buffer);
    (b_.is_live(buffer) ? instruction.reads : instruction.allocates).push_back(buffer);
  }

  void emit_as_segment(Instruction instruction) {
    b_.set_pass("segments");
    b_.emit(std::move(instruction));
    b_.set_pass(b_.plan().strategy);
  }

  StepBuilder& b_;
  Strategy& strategy_;
  const TrainSpec& train_;
  const ModelGraph& graph_;
  const Partition& partition_;
  int micro_batch_ = 0;
  std::vector<UnitExtent> extents_;                 // by UnitId
  std::vector<std::optional<UnitId>> unit_of_module_;
  std::vector<std::vector<UnitId>> enters_;         // by segment: units entered before it, outer first
  std::vector<std::vector<UnitId>> leaves_;         // by segment: units left after it, inner first
};

}  // namespace

void drive_step(StepBuilder& builder, Strategy& strategy, const TrainSpec& train) { Driver(builder, strategy, train).run(); }

}  // namespace shardlab

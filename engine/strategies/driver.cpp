#include "engine/strategies/driver.h"

#include <algorithm>

#include "engine/strategies/unit_extents.h"

namespace shardlab {
namespace {

class Driver {
 public:
  Driver(StepBuilder& builder, Strategy& strategy, const TrainSpec& train)
      : b_(builder),
        strategy_(strategy),
        train_(train),
        graph_(builder.graph()),
        partition_(builder.partition()),
        extents_(find_extents(graph_, partition_)) {}

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
      for (const UnitId unit : extents_.enters[i]) strategy_.pre_forward(unit);
      emit_forward(make_id<SegmentId>(i));
      for (const UnitId unit : extents_.leaves[i]) strategy_.post_forward(unit);
    }
  }

  void backward() {
    for (std::size_t i = partition_.segments.size(); i-- > 0;) {
      enter_backward(i);
      if (partition_.segments[i].programs.has_backward()) {
        emit_backward(make_id<SegmentId>(i));
        strategy_.gradients_ready(make_id<SegmentId>(i));
      }
      leave_backward(i);
    }
    strategy_.end_of_backward();
  }

  // A framework's hook before backward hangs on the module's outputs that require a gradient. Units that end together have one output:
  // its hooks run in the order in which they were registered.
  void enter_backward(std::size_t segment) {
    for (const UnitId unit : extents_.leaves[segment]) {
      if (partition_.unit(unit).outputs_require_grad) strategy_.pre_backward(unit);
    }
  }

  void leave_backward(std::size_t segment) {
    const std::vector<UnitId>& units = extents_.enters[segment];
    for (auto id = units.rbegin(); id != units.rend(); ++id) {
      const Unit& unit = partition_.unit(*id);
      const bool hooked = unit.inputs_require_grad || unit.parameters_require_grad;
      if (*id != Partition::root() && hooked) strategy_.post_backward(*id);
    }
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
    if (segment.programs.has_backward()) instruction.allocates.push_back(b_.saved_buffer(id, micro_batch_));
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
      if (!graph_.parameter(parameter).requires_grad) continue;
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
  const UnitExtents extents_;
  int micro_batch_ = 0;
};

}  // namespace

void drive_step(StepBuilder& builder, Strategy& strategy, const TrainSpec& train) { Driver(builder, strategy, train).run(); }

}  // namespace shardlab

// Writes one StepPlan: declares buffers, emits instructions, and knows at every point what is alive.
//
// Shared by the driver, the strategies and the optimizer's tail. Not thread-safe; one builder, one plan.
#pragma once

#include <initializer_list>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "engine/model/partition.h"
#include "engine/plan/layout.h"
#include "engine/plan/pass.h"
#include "engine/plan/step_plan.h"

namespace shardlab {

// Whose units, streams and groups a strategy speaks of: those of the whole plan, or of one of the two models
// of a distillation.
struct StrategyScope {
  std::vector<UnitId> units;
  UnitId root;
  std::string stream_prefix;
  bool teachers_mesh = false;  // its groups are of a mesh that is not the student's
  bool forward_only = false;   // a teacher's: no backward ever comes
};

class StepBuilder {
 public:
  StepBuilder(const ModelGraph& graph, const Partition& partition, PlanPhase phase, std::string strategy);

  const ModelGraph& graph() const { return graph_; }
  const Partition& partition() const { return partition_; }
  StepPlan& plan() { return plan_; }
  bool is_first() const { return plan_.phase == PlanPhase::first; }
  static constexpr StreamId compute() { return StreamId{0}; }

  // All units and no prefix, until set otherwise.
  const StrategyScope& scope() const { return scope_; }
  void set_scope(StrategyScope scope) { scope_ = std::move(scope); }

  // The name gets the prefix of the scope.
  StreamId add_stream(std::string_view name);
  // All ranks of the dimension, on the mesh of the scope.
  GroupId add_group(GroupDimension dimension, int size);
  // Neighbouring parts of it, `size` ranks each.
  GroupId add_part_group(GroupDimension dimension, int size);
  // The `size` ranks at one place of parts of `part` ranks each.
  GroupId add_group_across(GroupDimension dimension, int part, int size);

  // Instructions emitted from now on belong to this pass.
  void set_pass(PlanPass pass) { set_pass(to_string(pass)); }
  void set_pass(std::string_view strategy);

  // A buffer that nobody has allocated yet, or one that lives since before the step.
  BufferId declare(Buffer buffer);
  BufferId declare_carried(Buffer buffer);
  // Turns a declared buffer into one that lives since before the step.
  void carry(BufferId buffer);
  bool is_live(BufferId buffer) const { return live_[buffer.index()]; }

  // Appends; keeps track of what it allocates and frees.
  InstructionId emit(Instruction instruction);
  // Free on the stream that owns the first buffer, holding that stream until `waits` are done.
  InstructionId free(std::initializer_list<BufferId> buffers,
                     std::initializer_list<InstructionId> waits = {});
  InstructionId free(std::vector<BufferId> buffers, std::vector<InstructionId> waits = {});

  std::optional<InstructionId> last_on(StreamId stream) const;

  // The next instruction on `who` will wait for all that was emitted on `on` so far (the framework's
  // wait_stream).
  void wait(StreamId who, StreamId on);
  // The same for one instruction (wait_event).
  void wait(StreamId who, InstructionId on) { stream_waits_[who.index()].push_back(on); }

  // Buffers of border tensors, declared at first mention.
  BufferId value_buffer(TensorId tensor, int micro_batch);
  BufferId gradient_buffer(TensorId tensor, int micro_batch);
  // The value that a recomputation makes again.
  BufferId recomputed_buffer(TensorId tensor, int micro_batch);
  // Where a value waits in page-locked host memory, and the copy of it that came back.
  BufferId offloaded_buffer(TensorId tensor, int micro_batch);
  BufferId returned_buffer(TensorId tensor, int micro_batch);
  BufferId saved_buffer(SegmentId segment, int micro_batch);

  // Marks what is alive as kept and returns the plan.
  StepPlan finish();

 private:
  enum class TensorBuffer : std::uint8_t { value, gradient, recomputed, offloaded, returned };
  // What their names begin with.
  static constexpr const char* k_prefixes[] = {"act", "dact", "again", "away", "back"};
  GroupId find_or_add(const RankSet& ranks, int size);
  void name_constants();
  BufferId declare_tensor(TensorId tensor, int micro_batch, TensorBuffer kind);

  const ModelGraph& graph_;
  const Partition& partition_;
  StepPlan plan_;
  StrategyScope scope_;
  std::uint16_t pass_ = 0;
  std::vector<bool> live_;
  std::vector<std::optional<InstructionId>> last_on_stream_;
  std::vector<std::vector<InstructionId>> stream_waits_;  // by stream: for its next instruction
  // [micro-batch][tensor or segment]
  std::vector<std::vector<std::optional<BufferId>>> tensors_[std::size(k_prefixes)], saved_;
  std::vector<std::string> tensor_names_;  // of border tensors and constants
};

// While it lives instructions belong to `pass`, after it to the plan's strategy.
class PassScope {
 public:
  PassScope(StepBuilder& builder, PlanPass pass) : builder_(builder) { builder_.set_pass(pass); }
  ~PassScope() { builder_.set_pass(builder_.plan().strategy); }
  PassScope(const PassScope&) = delete;
  PassScope& operator=(const PassScope&) = delete;

 private:
  StepBuilder& builder_;
};

}  // namespace shardlab

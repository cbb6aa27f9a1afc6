#include "engine/strategies/zero12/bf16_optimizer.h"

#include <fmt/format.h>

#include "engine/scenario/mesh.h"
#include "engine/scenario/zero_options.h"
#include "engine/strategies/parameter_buffers.h"
#include "engine/strategies/zero/bucketed_gradients.h"
#include "engine/strategies/zero12/flat_group.h"

namespace shardlab {
namespace {

class Bf16Optimizer : public Strategy {
 public:
  Bf16Optimizer(StepBuilder& builder, const Scenario& scenario)
      : Strategy(builder),
        communication_(zero_options(scenario).communication_data_type.value_or(DType::bfloat16)),
        ranks_(resolve_mesh(scenario).shard),
        group_(builder.add_group(GroupDimension::shard, ranks_)) {}

  void declare_persistent() override {
    weights_.emplace(b_, root(), ranks_, group_, std::nullopt, false);
    frozen_ = declare_frozen(b_, root(), weights_->dtype());
    sums_ =
        declare_persistent_buffer(b_, weights_->whole("float32_sums", BufferClass::gradient, DType::float32));
  }

  // DeepSpeed's backward_prologue sets to zero what the micro-batch before has left.
  void pre_backward(UnitId unit) override {
    const std::vector<BufferId> left = live_gradients();
    if (unit != root() || left.empty()) return;
    Instruction zero;
    zero.kind = InstructionKind::ZeroGradients;
    zero.unit = root();
    zero.writes = left;
    for (const BufferId buffer : left) zero.bytes += b_.plan().buffer(buffer).bytes();
    b_.emit(std::move(zero));
  }

  void end_of_backward() override {
    for (const BufferId gradient : live_gradients()) add(gradient);
    if (reduces()) average();
  }

  BufferId compute_parameters(UnitId) const override { return weights_->weights(); }
  BufferId compute_parameter(ParameterId parameter) const override {
    return b_.graph().parameter(parameter).requires_grad ? weights_->weights() : *frozen_;
  }

  TrainedState trained() const override {
    TrainedState trained;
    trained.sums_one_norm = trained.measures_norm = trained.checks_overflow = true;
    trained.gradients_outlive_step = true;
    trained.units.push_back({root(), weights_->master(), {sums_}});
    return trained;
  }

  void after_update() override {
    weights_->gather();
    b_.free(live_gradients());
  }

 private:
  // Through a float32 copy (_update_hp_grad). The first micro-batch replaces what the step before has left,
  // which DeepSpeed sets to zero.
  void add(BufferId gradient) {
    Buffer copy = b_.plan().buffer(gradient);
    copy.name = fmt::format("float32_{}.mb{}", copy.name, micro_batch());
    copy.buffer_class = BufferClass::workspace;
    copy.layout = BufferLayout::opaque;
    copy.parameters.clear();
    copy.dtype = DType::float32;
    const Bytes bytes = copy.bytes();
    const BufferId through = b_.declare(std::move(copy));
    Instruction add;
    add.kind = micro_batch() == 0 ? InstructionKind::Cast : InstructionKind::Accumulate;
    add.unit = b_.plan().buffer(gradient).unit;
    add.bytes = bytes;
    add.reads = {gradient};
    if (micro_batch() > 0) add.reads.push_back(sums_);
    add.writes = {sums_, through};
    add.allocates = add.frees = {through};
    b_.emit(std::move(add));
  }

  void average() {
    const BufferId sent = converted(b_, sums_, communication_, StepBuilder::compute());
    emit_all_reduce(b_, root(), group_, sent, StepBuilder::compute());
    if (sent == sums_) return;
    b_.emit(make_copy(b_, root(), {sent}, {sums_}));
    b_.free({sent});
  }

  const DType communication_;
  const int ranks_;
  const GroupId group_;
  std::optional<FlatGroup> weights_;
  std::optional<BufferId> frozen_;  // parameters
  BufferId sums_;                   // of all gradients, in float32
};

}  // namespace

std::unique_ptr<Strategy> make_bf16_optimizer(StepBuilder& builder, const Scenario& scenario) {
  return std::make_unique<Bf16Optimizer>(builder, scenario);
}

}  // namespace shardlab

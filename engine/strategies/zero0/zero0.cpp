// DeepSpeed without ZeRO: every rank holds everything; after the backward of the last micro-batch gradients
// are copied together, averaged and copied back. Nothing overlaps.
//
// Source: DeepSpeed 0.19.8, runtime/engine.py (buffered_allreduce_fallback, at most 5e8 elements at a time),
// runtime/fp16/unfused_optimizer.py: in 16 bits the optimizer works on float32 copies of weights and
// gradients.
#include <algorithm>

#include <fmt/format.h>

#include "engine/scenario/mesh.h"
#include "engine/strategies/gradient_order.h"
#include "engine/strategies/parameter_buffers.h"
#include "engine/strategies/strategy.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_elements_at_once = 500'000'000;  // MEMORY_OPT_ALLREDUCE_SIZE

class Zero0Strategy : public Strategy {
 public:
  Zero0Strategy(StepBuilder& builder, const Scenario& scenario)
      : Strategy(builder), group_(builder.add_group(GroupDimension::replicate, world_size(scenario))) {}

  void declare_persistent() override {
    units_.resize(b_.partition().units.size());
    const bool setup = b_.plan().phase == PlanPhase::setup;
    for (const UnitId unit : units()) {
      Held& held = units_[unit.index()];
      const DType dtype = b_.partition().unit(unit).settings.precision.param;
      const std::vector<ParameterId> trained = parameters_with_gradients(b_, unit);
      const bool apart = dtype != DType::float32 && !trained.empty();
      if (apart) {
        Buffer master = unit_buffer(b_, unit, trained, "master", BufferClass::parameter,
                                    BufferLayout::parameters, DType::float32, 1, StepBuilder::compute());
        held.master = setup ? b_.declare(std::move(master)) : b_.declare_carried(std::move(master));
      }
      held.weights = declare_persistent_buffer(b_, whole(unit, "param", BufferClass::parameter, dtype));
      if (apart && setup) cast(held.weights, *held.master, true);
    }
  }

  void end_of_backward() override {
    if (!reduces()) return;
    std::vector<BufferId> together;
    std::int64_t elements = 0;
    for (const BufferId buffer : live_gradients()) {
      together.push_back(buffer);
      elements += b_.plan().buffer(buffer).elements;
      if (elements <= k_elements_at_once) continue;
      average(together);
      together.clear();
      elements = 0;
    }
    if (!together.empty()) average(together);
  }

  BufferId compute_parameters(UnitId unit) const override { return units_[unit.index()].weights; }

  TrainedState trained() const override {
    TrainedState trained;
    if (all_in_float32()) {
      trained.norm_group = group_;  // the norm, which experts would make differ, is averaged
      trained.sums_one_norm = trained.averages_norm = true;
    } else {
      trained.checks_overflow = true;  // of averages, which every rank has
      trained.holds_scale = b_.partition().unit(root()).settings.precision.param == DType::float16;
    }
    for (const UnitId unit : units()) {
      const Held& held = units_[unit.index()];
      std::vector<BufferId> gradients = held.exact.empty() ? live_gradients(unit) : held.exact;
      if (!gradients.empty()) trained.units.push_back({unit, held.master.value_or(held.weights), gradients});
    }
    return trained;
  }

  void prepare_update() override {
    for (const UnitId unit : units()) {
      Held& held = units_[unit.index()];
      if (!held.master) continue;
      for (const BufferId gradient : live_gradients(unit)) {
        Buffer exact = b_.plan().buffer(gradient);
        exact.name = "exact_" + exact.name;
        exact.dtype = DType::float32;
        const BufferId to = b_.declare(std::move(exact));
        cast(gradient, to, true);
        held.exact.push_back(to);
      }
    }
  }

  void after_update() override {
    for (const UnitId unit : units()) {
      Held& held = units_[unit.index()];
      if (!held.master) continue;
      b_.free(held.exact);
      b_.free(live_gradients(unit));
      cast(*held.master, held.weights, false);
    }
  }

 private:
  struct Held {
    BufferId weights;
    std::optional<BufferId> master;  // in float32, where the weights are not
    std::vector<BufferId> exact;     // gradients in float32
  };

  Buffer whole(UnitId unit, std::string_view name, BufferClass buffer_class, DType dtype) const {
    return unit_buffer(b_, unit, name, buffer_class, BufferLayout::parameters, dtype, 1,
                       StepBuilder::compute());
  }

  bool all_in_float32() const {
    return std::all_of(units().begin(), units().end(),
                       [&](UnitId unit) { return !units_[unit.index()].master; });
  }

  void cast(BufferId from, BufferId to, bool allocates) {
    Instruction cast;
    cast.kind = InstructionKind::Cast;
    cast.unit = b_.plan().buffer(from).unit;
    cast.bytes = b_.plan().buffer(to).bytes();
    cast.reads = {from};
    cast.writes = {to};
    if (allocates) cast.allocates = {to};
    b_.emit(std::move(cast));
  }

  void average(const std::vector<BufferId>& gradients) {
    Buffer buffer;
    buffer.role = BufferRole::bucket;
    buffer.name = fmt::format("bucket.{}", buckets_++);
    buffer.buffer_class = BufferClass::reduce_buffer;
    buffer.dtype = b_.plan().buffer(gradients.front()).dtype;
    buffer.layout = BufferLayout::parameters;
    for (const BufferId id : gradients) {
      const Buffer& gradient = b_.plan().buffer(id);
      buffer.elements += gradient.elements;
      buffer.parameters.insert(buffer.parameters.end(), gradient.parameters.begin(),
                               gradient.parameters.end());
    }
    const BufferId bucket = b_.declare(std::move(buffer));
    Instruction pack;
    pack.kind = InstructionKind::Pack;
    pack.bytes = b_.plan().buffer(bucket).bytes();
    pack.reads = gradients;
    pack.writes = pack.allocates = {bucket};
    b_.emit(std::move(pack));
    emit_all_reduce(b_, root(), group_, bucket, StepBuilder::compute());
    Instruction unpack;
    unpack.kind = InstructionKind::Unpack;
    unpack.bytes = b_.plan().buffer(bucket).bytes();
    unpack.reads = {bucket};
    unpack.writes = gradients;
    b_.emit(std::move(unpack));
    b_.free({bucket});
  }

  GroupId group_;
  std::vector<Held> units_;  // by UnitId
  int buckets_ = 0;
};

}  // namespace

extern const StrategyReasons k_zero0_reasons;  // zero0_reasons.cpp

extern constexpr StrategyType k_zero0_strategy{
    .make = [](StepBuilder& builder, const Scenario& scenario) -> std::unique_ptr<Strategy> {
      return std::make_unique<Zero0Strategy>(builder, scenario);
    },
    .reasons = &k_zero0_reasons,
    .volume_limit = [](const Scenario&) -> std::optional<double> { return 2.0; },
};

}  // namespace shardlab

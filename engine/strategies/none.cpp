// A single process: parameters whole, gradients where backward writes them, no communication.
#include "engine/strategies/parameter_buffers.h"
#include "engine/strategies/strategy.h"

namespace shardlab {
namespace {

class NoneStrategy : public Strategy {
 public:
  using Strategy::Strategy;

  void declare_persistent() override {
    for (std::size_t i = 0; i < b_.partition().units.size(); ++i) {
      parameters_.push_back(declare_persistent_buffer(
          b_, unit_buffer(b_, make_id<UnitId>(i), "param", BufferClass::parameter, BufferLayout::parameters,
                          b_.graph().compute_dtype, 1, StepBuilder::compute())));
    }
  }

  BufferId compute_parameters(UnitId unit) const override { return parameters_[unit.index()]; }

  std::vector<TrainedUnit> trained_units() const override {
    std::vector<TrainedUnit> units;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const auto unit = make_id<UnitId>(i);
      if (auto gradients = live_gradients(unit); !gradients.empty()) units.push_back({unit, parameters_[i], std::move(gradients)});
    }
    return units;
  }

 private:
  std::vector<BufferId> parameters_;
};

}  // namespace

extern const StrategyType k_none_strategy{
    "none", [](const ModelGraph&, const Scenario&) { return std::vector<OperatorId>{}; },
    [](StepBuilder& builder, const Scenario&) -> std::unique_ptr<Strategy> { return std::make_unique<NoneStrategy>(builder); }};

}  // namespace shardlab

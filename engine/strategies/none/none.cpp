// A single process: parameters whole, gradients where backward writes them, no communication.
#include "engine/strategies/parameter_buffers.h"
#include "engine/strategies/strategy.h"

namespace shardlab {
namespace {

class NoneStrategy : public Strategy {
 public:
  using Strategy::Strategy;

  void declare_persistent() override {
    parameters_.resize(b_.partition().units.size());
    for (const UnitId unit : units()) {
      parameters_[unit.index()] = declare_persistent_buffer(
          b_, unit_buffer(b_, unit, "param", BufferClass::parameter, BufferLayout::parameters,
                          b_.partition().unit(unit).settings.precision.param, 1, StepBuilder::compute()));
    }
  }

  BufferId compute_parameters(UnitId unit) const override { return parameters_[unit.index()]; }

  std::vector<TrainedUnit> trained_units() const override {
    std::vector<TrainedUnit> trained;
    for (const UnitId unit : units()) {
      if (auto gradients = live_gradients(unit); !gradients.empty())
        trained.push_back({unit, parameters_[unit.index()], std::move(gradients)});
    }
    return trained;
  }

 private:
  std::vector<BufferId> parameters_;  // by UnitId
};

}  // namespace

extern const StrategyType k_none_strategy{
    "none", [](const ModelGraph&, const Scenario&) { return std::vector<OperatorId>{}; },
    [](StepBuilder& builder, const Scenario&) -> std::unique_ptr<Strategy> {
      return std::make_unique<NoneStrategy>(builder);
    }};

}  // namespace shardlab

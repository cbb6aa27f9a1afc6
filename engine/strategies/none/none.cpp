// A single process: parameters whole, gradients where backward writes them, no communication.
#include "engine/reasons/reason_rule.h"
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

  TrainedState trained() const override {
    TrainedState trained;
    for (const UnitId unit : units()) {
      if (auto gradients = live_gradients(unit); !gradients.empty())
        trained.units.push_back({unit, parameters_[unit.index()], std::move(gradients)});
    }
    return trained;
  }

 private:
  std::vector<BufferId> parameters_;  // by UnitId
};

}  // namespace

std::unique_ptr<Strategy> make_unscheduled(StepBuilder& builder) {
  return std::make_unique<NoneStrategy>(builder);
}

constexpr StrategyReasons k_none_reasons{"a single process: nothing is gathered or reduced"};

extern constexpr StrategyType k_none_strategy{
    .make = [](StepBuilder& builder, const Scenario&) { return make_unscheduled(builder); },
    .reasons = &k_none_reasons,
};

}  // namespace shardlab

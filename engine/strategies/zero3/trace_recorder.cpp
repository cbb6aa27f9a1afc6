#include "engine/strategies/zero3/trace_recorder.h"

#include <memory>
#include <utility>

#include "engine/scenario/train_spec.h"
#include "engine/strategies/driver.h"
#include "engine/strategies/parameter_buffers.h"
#include "engine/strategies/step_strategies.h"
#include "engine/strategies/zero3/module_walk.h"

namespace shardlab {
namespace {

// Schedules nothing and notes whom it was told of.
class Recorder : public Strategy {
 public:
  Recorder(StepBuilder& builder, const ModuleReads& reads, std::vector<TraceEvent>& trace)
      : Strategy(builder), reads_(reads), walk_(builder.graph(), builder.partition(), reads), trace_(trace) {}

  void declare_persistent() override {
    for (const UnitId unit : units()) {
      parameters_.push_back(declare_persistent_buffer(
          b_, unit_buffer(b_, unit, "param", BufferClass::parameter, BufferLayout::parameters,
                          b_.partition().unit(unit).settings.precision.param, 1, StepBuilder::compute())));
    }
  }
  void pre_forward(UnitId unit) override { note(walk_.forward(unit), unit, in_forward()); }
  void pre_backward(UnitId unit) override { note(walk_.backward(unit), unit, TracePass::backward); }
  void post_forward(UnitId unit) override { trace_.push_back({module_of(unit), unit, true, in_forward()}); }
  void post_backward(UnitId unit) override {
    if (b_.partition().unit(unit).inputs_require_grad)
      trace_.push_back({module_of(unit), unit, true, TracePass::backward});
  }
  bool wraps_outputs() const override { return true; }
  bool hooks_modules() const override { return true; }
  BufferId compute_parameters(UnitId unit) const override { return parameters_[unit.index()]; }
  TrainedState trained() const override { return {}; }

 private:
  TracePass in_forward() const {
    return forward_sense() == ForwardSense::recomputation ? TracePass::recomputation : TracePass::forward;
  }
  ModuleId module_of(UnitId unit) const { return b_.partition().unit(unit).modules.front(); }
  void note(const std::vector<ModuleId>& on_the_way, UnitId unit, TracePass pass) {
    for (const ModuleId module : on_the_way) trace_.push_back({module});
    if (!reads_.of(unit).empty()) trace_.push_back({module_of(unit), unit, false, pass});
  }

  const ModuleReads& reads_;
  ModuleWalk walk_;
  std::vector<TraceEvent>& trace_;
  std::vector<BufferId> parameters_;  // by UnitId
};

}  // namespace

std::vector<TraceEvent> record_trace(const ModelGraph& graph, const Partition& partition,
                                     const ModuleReads& reads, const Scenario& scenario) {
  std::vector<TraceEvent> trace;
  Scenario one = scenario;
  one.train->accumulation = 1;
  StepBuilder builder(graph, partition, PlanPhase::steady, "trace");
  StepStrategies strategies(builder, std::make_unique<Recorder>(builder, reads, trace));
  strategies.student().declare_persistent();
  drive_step(builder, strategies, one);
  return trace;
}

}  // namespace shardlab

// A strategy as a hook machine.
//
// The driver walks the model over all micro-batches of a step and tells the strategy what happens, in the
// order the framework's own hooks would fire; the strategy keeps the state its framework keeps and emits
// gathers, frees, waits, copies and reductions. To add one: a folder beside this file and a line in
// strategy_list.h (docs/extending.md).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/scenario/scenario.h"
#include "engine/strategies/step_builder.h"

namespace shardlab {

struct StrategyReasons;  // engine/reasons/reason_rule.h

// What the optimizer and clipping work on, unit by unit.
struct TrainedUnit {
  UnitId unit;
  BufferId parameters;              // stored
  std::vector<BufferId> gradients;  // reduced, alive at the end of backward
  int part = 0;                     // where one unit is updated in parts: which
  // Squared norms of the gradients, where these were squared as they left the device and lie elsewhere now.
  std::vector<BufferId> squares = {};
  // The optimizer's states, where they are declared already: those of a drive. In the first step the update
  // makes them all the same.
  std::vector<BufferId> states = {};
};

// What backward leaves for clipping and the optimizer.
struct TrainedState {
  std::vector<TrainedUnit> units;
  // The group over which squared gradient norms are summed; none when every rank holds all gradients.
  std::optional<GroupId> norm_group = std::nullopt;
  // Squared norms summed over that group: one for all parameters, or one each.
  bool sums_one_norm = false;
  DType norm_dtype = DType::float32;
  // The ranks hold the same gradients and agree on the norm by its average.
  bool averages_norm = false;
  // The norm is taken whether anything is clipped by it or not.
  bool measures_norm = false;
  // Gradients are looked through for numbers that are not finite although no loss is scaled; where the ranks
  // of the norm's group find any, the step is skipped.
  bool checks_overflow = false;
  // They hold the factor of the loss until those that the optimizer works on are multiplied, clipping
  // included.
  bool holds_scale = false;
  // The search takes a copy of all gradients and a mask beside them.
  bool masks_overflow = false;
  // The gradients were squared and looked through on the device, as they left it: the tail adds up one number
  // a parameter.
  bool looked_through = false;
  // Where clipping and the optimizer run and keep what they make: on compute, or, where the state lies in
  // host memory, on the stream of what processors do.
  StreamId stream = StepBuilder::compute();
  MemorySpace space = MemorySpace::device;
  // Whether zero_grad leaves the reduced gradients alive until the next forward.
  bool gradients_outlive_step = false;
  // Each of the units is measured by a norm of its own, prepared, clipped and updated before the next one is.
  bool one_by_one = false;
};

// In what sense a forward runs.
enum class ForwardSense : std::uint8_t {
  ordinary,
  without_graph,  // inside a reentrant checkpoint: autograd records nothing, so no hook of backward is
                  // registered
  recomputation,  // again, inside backward
};

class Strategy {
 public:
  explicit Strategy(StepBuilder& builder) : b_(builder), scope_(builder.scope()) {}
  virtual ~Strategy() = default;
  Strategy(const Strategy&) = delete;             // refers to one builder
  Strategy& operator=(const Strategy&) = delete;  // likewise

  // The unit around all of this strategy's.
  UnitId root() const { return scope_.root; }

  // Declares the buffers that live across steps. In the setup plan it also emits their Initialize.
  virtual void declare_persistent() = 0;

  virtual void begin_micro_batch(int micro_batch, bool reduce_gradients);
  // Also for units inside a checkpointed region, when it is run again: of those whose pre_backward has not
  // come yet.
  virtual void pre_forward(UnitId) {}
  virtual void post_forward(UnitId) {}
  void set_forward_sense(ForwardSense sense) { forward_sense_ = sense; }
  // A gradient reached an output of the unit's module. Never for a unit none of whose outputs requires a
  // gradient.
  virtual void pre_backward(UnitId) {}
  // The hook is a node of autograd's graph behind the module's output, not a hook of that tensor: of units
  // that end together the outer one's comes first.
  virtual bool wraps_outputs() const { return false; }
  // Hooks hang on every module, whatever its state: a recomputation runs them also in a unit that has entered
  // its backward, up to the module inside which it stops, whose hook after forward never comes.
  virtual bool hooks_modules() const { return false; }
  // Backward has passed the beginning of the unit's module. Never for the root. Comes where a framework's
  // hook could fire: FSDP2's hangs on the unit's inputs that require a gradient (Unit::inputs_require_grad),
  // FSDP1's on the gradient of its parameters (Unit::parameters_require_grad) or, where these are frozen, on
  // such inputs.
  virtual void post_backward(UnitId) {}
  // The backward of a segment was emitted: the parameters whose last use (in backward order) it was have
  // their gradients. Comes before the post_backward of units entered with this segment, and for every unit
  // that has gradients.
  virtual void gradients_ready(SegmentId) {}
  virtual void end_of_backward() {}
  // Everything of the step was emitted: states what the host of the next step may wait for
  // (StepPlan::left_events).
  virtual void end_of_step() {}

  // The second step is not yet like the later ones, whatever the events it takes over.
  virtual bool second_step_differs() const { return false; }

  // The buffer that compute reads a unit's parameters from.
  virtual BufferId compute_parameters(UnitId unit) const = 0;
  // The same of one parameter, where those of a unit have a buffer each.
  virtual BufferId compute_parameter(ParameterId parameter) const {
    return compute_parameters(b_.partition().unit_of_parameter[parameter.index()]);
  }
  // At the end of backward.
  virtual TrainedState trained() const = 0;
  // After the norms, before clipping: makes of the gradients what the optimizer works on, which trained()
  // tells from now on.
  virtual void prepare_update() {}
  // The same of one of trained()'s units, and what follows its optimizer step: TrainedState::one_by_one.
  virtual void prepare_one(std::size_t) {}
  virtual void finish_one(std::size_t) {}
  // One of trained()'s units was updated within backward: its gradients go, and it is trained()'s no more.
  virtual void finish_in_backward(const TrainedUnit& unit) { b_.free(unit.gradients); }
  // After the optimizer: makes of what it updated what compute reads.
  virtual void after_update() {}
  // Elements of a unit with the padding of all ranks, as its collectives move them.
  virtual std::int64_t padded_elements(UnitId unit) const {
    return b_.partition().unit(unit).elements(b_.graph());
  }
  // The group that agrees on an overflow of scaled gradients; none when every rank sees the same gradients.
  virtual std::optional<GroupId> overflow_group() { return trained().norm_group; }

  // The buffer in which backward leaves the gradient of a parameter, declared at first mention. Parameters of
  // one unit whose gradients one segment creates share a buffer, except those that has_own_gradient_buffer
  // names.
  virtual BufferId gradient_buffer(ParameterId parameter);

 protected:
  // The units that are this strategy's to schedule.
  const std::vector<UnitId>& units() const { return scope_.units; }
  bool forward_only() const { return scope_.forward_only; }

  virtual bool has_own_gradient_buffer(ParameterId) const { return false; }
  // How a gradient buffer of the unit lies; as declared: each parameter whole, one after the other.
  virtual void shape_gradient(UnitId, Buffer&) const {}

  int micro_batch() const { return micro_batch_; }
  bool reduces() const { return reduce_gradients_; }
  ForwardSense forward_sense() const { return forward_sense_; }
  // Declared gradient buffers of a unit that are alive, in the order of their first parameters; and those of
  // all units.
  std::vector<BufferId> live_gradients(UnitId unit) const;
  std::vector<BufferId> live_gradients() const;

  StepBuilder& b_;

 private:
  std::string own_suffix(const Segment& segment, ParameterId parameter) const;

  const StrategyScope scope_;
  int micro_batch_ = 0;
  bool reduce_gradients_ = true;
  ForwardSense forward_sense_ = ForwardSense::ordinary;
  std::vector<std::optional<BufferId>> gradient_of_parameter_;  // by ParameterId
  std::vector<std::vector<BufferId>> gradients_;                // by UnitId
};

// A strategy as others see it. Its folder hands it over under the name that strategy_list.h gives it.
struct StrategyType {
  // Neither the scenario nor the builder may go before the strategy does.
  std::unique_ptr<Strategy> (*make)(StepBuilder& builder, const Scenario& scenario);
  const StrategyReasons* reasons;  // never null, lives as long as the program
  // What a step communicates, in units of the model, tends to with many ranks
  // (report/communication_volume.h); none for settings that the rule does not cover. Null: there is no rule.
  std::optional<double> (*volume_limit)(const Scenario& scenario) = nullptr;
  // The operators at which segments must be cut besides the hook points of units; null: none.
  std::vector<OperatorId> (*extra_cuts)(const ModelGraph& graph, const Scenario& scenario) = nullptr;
  // With frozen parameters: lets gradients flow where this strategy cannot leave them out, or refuses the
  // units; may be null. The partition is one of this graph; whoever calls makes it anew.
  Status (*require_gradients)(ModelGraph& graph, const Scenario& scenario,
                              const Partition& partition) = nullptr;
  // Refuses checkpointed regions with which the mirrored framework fails; may be null.
  Status (*check_regions)(const Scenario& scenario, const ModelGraph& graph,
                          const Partition& partition) = nullptr;
  // The same for units; may be null.
  Status (*check_units)(const Scenario& scenario, const ModelGraph& graph,
                        const Partition& partition) = nullptr;

  std::vector<OperatorId> cuts(const ModelGraph& graph, const Scenario& scenario) const {
    return extra_cuts == nullptr ? std::vector<OperatorId>() : extra_cuts(graph, scenario);
  }
};

// The schedule of this name; null where there is none. It lives as long as the program.
const StrategyType* strategy_named(std::string_view name);
// The same; bad_input "not supported yet" with what there is.
Result<StrategyType> find_strategy(std::string_view name);

// The strategy of a single process, which leaves everything where it is: what a plan is before its strategy
// is asked.
std::unique_ptr<Strategy> make_unscheduled(StepBuilder& builder);

}  // namespace shardlab

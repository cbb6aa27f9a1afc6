// FSDP2 (`fully_shard`), torch 2.11: torch/distributed/fsdp/_fully_shard.
//
// Mirrored: per-parameter shards along dimension 0; gathers into one output buffer and copies out to
// per-parameter tensors; in forward the output is dropped after the next unit's copy-out, in backward right
// after its own; implicit backward prefetch in reversed post-forward order; gradients leave after their
// copy-in, the last parameter's only after the reduce-scatter was issued (a loop variable still holds it);
// compute waits for the previous reduce-scatter before it drops that one's input; the root reduces in the
// final callback. Orders were recorded from the real thing. CPUOffloadPolicy: shards, their gradients and the
// optimizer's states lie in host memory.
#include <algorithm>

#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/strategies/fsdp2/gather.h"
#include "engine/strategies/fsdp2/reduce.h"
#include "engine/strategies/fsdp2/unit_state.h"
#include "engine/strategies/sharding_strategy.h"
#include "engine/strategies/volume_rules.h"

namespace shardlab {
namespace {

using fsdp2::Streams;
using fsdp2::UnitState;

Streams add_streams(StepBuilder& builder, const Scenario& scenario) {
  const ResolvedMesh mesh = resolve_mesh(scenario);
  Streams streams;
  streams.copy_in = builder.add_stream("copy_in");
  streams.all_gather = builder.add_stream("all_gather");
  if (scenario.offload->parameters == OffloadTarget::cpu) streams.host = add_host_state(builder, scenario);
  if (builder.scope().forward_only) return streams;
  streams.reduce_scatter = builder.add_stream("reduce_scatter");
  streams.all_reduce = mesh.replicate > 1 ? builder.add_stream("all_reduce") : streams.reduce_scatter;
  return streams;
}

class Fsdp2Strategy : public ShardingStrategy<UnitState> {
 public:
  Fsdp2Strategy(StepBuilder& builder, const Scenario& scenario)
      : ShardingStrategy(builder, scenario),
        streams_(add_streams(builder, scenario)),
        gather_(builder, streams_, groups_, units_),
        reduce_(builder, streams_, groups_, units_) {}

  void declare_persistent() override {
    declare_units([&](UnitId unit) { return fsdp2::declare_group(b_, unit, scenario_, groups_, streams_); });
  }

  void begin_micro_batch(int micro_batch, bool reduce_gradients) override {
    Strategy::begin_micro_batch(micro_batch, reduce_gradients);
    begin_forward();
    for (UnitState& unit : units_) unit.posted = false;
    gather_.begin_forward();
  }

  // The outermost unit that a recomputation enters is a root of its own: the gather streams wait for compute.
  void pre_forward(UnitId unit) override {
    if (forward_sense() == ForwardSense::recomputation && !recomputed_root_) {
      recomputed_root_ = unit;
      gather_.begin_forward();
    }
    gather_.unshard(unit);
    gather_.wait_in_forward(unit);
    for (const UnitId next : next_in_forward(unit, prefetch_depths().forward)) gather_.unshard(next);
  }

  void post_forward(UnitId unit) override {
    if (forward_sense() == ForwardSense::recomputation) return post_recomputation(unit);
    note_forward_ended(unit);
    gather_.reshard_after_forward(unit);
    if (unit == root()) gather_.drop_last_output();
  }

  // Inside backward nothing is resharded after a forward, and the order for prefetches stays what it was.
  void post_recomputation(UnitId unit) {
    if (recomputed_root_ != unit) return;
    gather_.drop_last_output();
    recomputed_root_.reset();
  }

  void pre_backward(UnitId unit) override {
    gather_.unshard(unit);
    gather_.wait_in_backward(unit);
    for (const UnitId next : next_in_backward(unit)) gather_.unshard(next);
  }

  void post_backward(UnitId unit) override {
    if (b_.partition().unit(unit).inputs_require_grad) run_post_backward(unit);
  }

  void run_post_backward(UnitId unit) {
    state(unit).posted = true;
    if (!state(unit).has_parameters) return;
    const std::vector<BufferId> gradients = live_gradients(unit);
    const bool last = micro_batch() + 1 == micro_batches_of_step(scenario_);
    const bool reshards = last || scenario_.parallel->reshard_after_backward;
    if (!reduces()) {
      if (reshards) gather_.reshard(unit);
      if (state(unit).reduce != state(unit).param) reduce_.accumulate_unsharded(unit, gradients);
      return;
    }
    const bool accumulates = reduce_.has_unsharded(unit);
    if (accumulates) reduce_.accumulate_unsharded(unit, gradients);
    if (reshards) gather_.reshard(unit);
    const std::vector<BufferId> reduced = accumulates ? reduce_.take_unsharded(unit) : gradients;
    if (!reduced.empty()) reduce_.reduce(unit, reduced, last || scenario_.parallel->requires_all_reduce);
  }

  // The final callback runs what autograd did not come to: the root with integer inputs, units below which
  // nothing requires a gradient. It goes over all of them in the order of named_modules.
  void end_of_backward() override {
    for (const UnitId unit : in_definition_order()) {
      if (!state(unit).posted) run_post_backward(unit);
      reduce_.await_offloaded(unit);
      gather_.drop_unused(unit);
    }
    reduce_.finish();
  }

  TrainedState trained() const override {
    TrainedState trained = ShardingStrategy::trained();
    if (streams_.host) {
      trained.stream = streams_.host->stream;
      trained.space = MemorySpace::pageable_host;
    }
    return trained;
  }

  std::int64_t padded_elements(UnitId unit) const override {
    if (b_.partition().unit(unit).ignored) return Strategy::padded_elements(unit);
    return make_layout(b_.graph(), b_.partition().unit(unit).parameters, groups_.shards).gathered_elements();
  }

 protected:
  bool has_own_gradient_buffer(ParameterId parameter) const override {
    return units_[b_.partition().unit_of_parameter[parameter.index()].index()].last_with_gradient ==
           parameter;
  }

 private:
  std::vector<UnitId> in_definition_order() const {
    std::vector<UnitId> order = units();
    const auto module = [&](UnitId unit) {
      const std::vector<ModuleId>& modules = b_.partition().unit(unit).modules;
      return *std::min_element(modules.begin(), modules.end());
    };
    std::sort(order.begin(), order.end(), [&](UnitId a, UnitId b) { return module(a) < module(b); });
    return order;
  }

  const Streams streams_;
  fsdp2::Gather gather_;
  fsdp2::Reduce reduce_;
  std::optional<UnitId> recomputed_root_;
};

}  // namespace

extern const StrategyReasons k_fsdp2_reasons;  // fsdp2_reasons.cpp

extern constexpr StrategyType k_fsdp2_strategy{
    .make = [](StepBuilder& builder, const Scenario& scenario) -> std::unique_ptr<Strategy> {
      return std::make_unique<Fsdp2Strategy>(builder, scenario);
    },
    .reasons = &k_fsdp2_reasons,
    .volume_limit = resharding_volume,
};

}  // namespace shardlab

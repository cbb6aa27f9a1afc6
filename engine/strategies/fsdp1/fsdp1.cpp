// FSDP1 (FullyShardedDataParallel), torch 2.11: torch/distributed/fsdp.
//
// Mirrored: flat parameters; a cast shard that is gathered and dropped; gathers on a stream of their own that
// waits for compute once a step only; the rate limiter; freeing before reducing; the copy that the backward
// of the views makes; prefetch in the order of the last forward; gradients that outlive zero_grad under
// use_orig_params; with CPUOffload shards and gradients in page-locked memory for good. Orders were recorded
// from the real thing.
#include <algorithm>

#include <fmt/format.h>

#include "engine/scenario/mesh.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/strategies/fsdp1/flat_parameters.h"
#include "engine/strategies/fsdp1/flat_unit.h"
#include "engine/strategies/fsdp1/reduce_gradient.h"
#include "engine/strategies/fsdp1/unshard.h"
#include "engine/strategies/strategy.h"
#include "engine/strategies/unit_extents.h"
#include "engine/strategies/volume_rules.h"

namespace shardlab {
namespace {

using fsdp1::FlatUnit;
using fsdp1::Settings;
using fsdp1::Streams;

Settings settings_of(const Scenario& scenario) {
  const ResolvedMesh mesh = resolve_mesh(scenario);
  const Fsdp1Sharding sharding = scenario.parallel->sharding;
  Settings settings;
  settings.sharded = sharding != Fsdp1Sharding::no_shard &&
                     mesh.shard > 1;  // FSDP1 falls back to NO_SHARD in a world of one
  settings.shards = settings.sharded ? mesh.shard : mesh.replicate;
  settings.replicas = settings.sharded ? mesh.replicate : 1;
  settings.reshards_after_forward = reshards_after_forward(sharding);
  settings.use_orig_params = scenario.parallel->use_orig_params;
  settings.stored = scenario.model->dtype;
  return settings;
}

Streams add_streams(StepBuilder& builder, const Scenario& scenario, const Settings& settings) {
  Streams streams;
  streams.pre_unshard = builder.add_stream("pre_unshard");
  streams.unshard = builder.add_stream(to_string(StreamRole::unshard));
  if (scenario.offload->parameters == OffloadTarget::cpu) streams.host = add_host_state(builder, scenario);
  if (builder.scope().forward_only) return streams;
  streams.post_backward = builder.add_stream("post_backward");
  streams.all_reduce = settings.replicas > 1 ? builder.add_stream("all_reduce") : StepBuilder::compute();
  return streams;
}

class Fsdp1Strategy : public Strategy {
 public:
  Fsdp1Strategy(StepBuilder& builder, const Scenario& scenario)
      : Strategy(builder),
        prefetch_(scenario.parallel->prefetch),
        settings_(settings_of(scenario)),
        streams_(add_streams(builder, scenario, settings_)),
        group_(builder.add_group(settings_.sharded ? GroupDimension::shard : GroupDimension::replicate,
                                 settings_.shards)),
        replicate_(settings_.replicas > 1
                       ? std::optional(builder.add_group(GroupDimension::replicate, settings_.replicas))
                       : std::nullopt),
        unshard_(builder, streams_, settings_, group_, prefetch_.limit_all_gathers, units_),
        reduce_(builder, streams_, settings_, group_, replicate_, units_) {}

  void declare_persistent() override {
    units_.resize(b_.partition().units.size());
    for (const UnitId unit : units()) {
      state(unit) = fsdp1::declare_unit(b_, unit, settings_, streams_);
      if (forward_only() && state(unit).has_parameters && settings_.sharded && !frees_after_forward(unit))
        carry_over(state(unit));
    }
    for (const UnitId unit : find_extents(b_.graph(), b_.partition()).in_order()) {
      if (state(unit).has_parameters) pre_forward_order_.push_back(unit);
    }
  }

  void begin_micro_batch(int micro_batch, bool reduce_gradients) override {
    Strategy::begin_micro_batch(micro_batch, reduce_gradients);
    post_forward_order_.clear();
    for (FlatUnit& unit : units_) unit.prefetched = unit.needs_pre_backward_unshard = false;
    for (FlatUnit& unit : units_) unit.prefetched_by.reset();
    unshard_.begin_micro_batch();
    if (micro_batch == 0) drop_old_gradients();
    if (micro_batch == 0 && b_.is_first() && streams_.host) make_host_gradients();
  }

  // Run again in backward, a forward prefetches nothing and makes new views.
  void pre_forward(UnitId unit) override {
    FlatUnit& handle = state(unit);
    if (!handle.has_parameters) return;
    if (!handle.prefetched) unshard_.unshard(unit);
    unshard_.wait();
    if (forward_sense() == ForwardSense::recomputation) {
      handle.prefetched_by.reset();
    } else {
      prefetch_in_forward(unit);
    }
  }

  void post_forward(UnitId unit) override {
    FlatUnit& handle = state(unit);
    if (!handle.has_parameters) return;
    post_forward_order_.push_back(unit);
    const bool again = forward_sense() == ForwardSense::recomputation;
    unshard_.reshard(unit, frees_after_forward(unit), where(again ? "recomputation" : "forward"));
    const bool hooked = b_.partition().unit(unit).outputs_require_grad;
    handle.needs_pre_backward_unshard = hooked && forward_sense() != ForwardSense::without_graph;
  }

  void pre_backward(UnitId unit) override {
    FlatUnit& handle = state(unit);
    if (!handle.has_parameters) return;
    if (handle.needs_pre_backward_unshard) {
      if (!handle.prefetched) unshard_.unshard(unit);
      unshard_.wait();
    }
    handle.needs_pre_backward_unshard = false;
    if (prefetch_.backward == BackwardPrefetch::pre) prefetch_in_backward(unit);
  }

  // The views of a unit that was prefetched in forward were made before the forward of the unit before it, so
  // autograd comes to their backward only after that unit's. A reentrant checkpoint has a backward of its
  // own, through views that were made for it.
  void post_backward(UnitId unit) override {
    if (state(unit).reentrant) run_post_backward(unit);
    for (const UnitId later : pre_forward_order_) {
      if (state(later).prefetched_by == unit) run_post_backward(later);
    }
    if (!state(unit).reentrant && !state(unit).prefetched_by) run_post_backward(unit);
  }

  void end_of_backward() override {
    post_backward(root());
    if (reduces()) reduce_.finish();
    reshard_all();
  }

  void end_of_step() override { unshard_.end_of_step(); }

  BufferId compute_parameters(UnitId unit) const override { return units_[unit.index()].full; }

  TrainedState trained() const override {
    TrainedState trained;
    if (settings_.sharded) trained.norm_group = group_;
    trained.sums_one_norm = true;
    trained.gradients_outlive_step = settings_.use_orig_params;
    for (std::size_t i = 0; i < units_.size(); ++i) {
      const FlatUnit& unit = units_[i];
      const BufferId gradient = streams_.host ? unit.host_gradient : unit.gradient;
      if (unit.trained && b_.is_live(gradient))
        trained.units.push_back({make_id<UnitId>(i), unit.stored, {gradient}});
    }
    if (streams_.host) {
      trained.stream = streams_.host->stream;
      trained.space = MemorySpace::pageable_host;
      trained.gradients_outlive_step = true;
    }
    return trained;
  }

  // ShardedGradScaler asks its default process group, whatever the sharding.
  std::optional<GroupId> overflow_group() override {
    return replicate_ ? b_.add_group(GroupDimension::world, settings_.shards * settings_.replicas) : group_;
  }
  std::int64_t padded_elements(UnitId unit) const override {
    return fsdp1::flat_elements(b_, unit, settings_);
  }

 private:
  FlatUnit& state(UnitId unit) { return units_[unit.index()]; }
  // Never the root, in the expectation of a backward that needs it first.
  bool frees_after_forward(UnitId unit) const { return unit != root() && settings_.reshards_after_forward; }
  // No backward takes back what forward left: it is there from the second step on.
  void carry_over(const FlatUnit& state) {
    if (!b_.is_first() && b_.plan().phase != PlanPhase::setup) b_.carry(state.full);
  }
  std::string where(std::string_view pass) const { return fmt::format("{}.mb{}", pass, micro_batch()); }

  // zero_grad(set_to_none) clears the parameters' gradients; the flat parameter keeps its own until the next
  // root pre-forward.
  void drop_old_gradients() {
    if (!settings_.use_orig_params || b_.is_first() || streams_.host) return;
    for (std::size_t i = 0; i < units_.size(); ++i) {
      if (!units_[i].trained || !b_.is_live(units_[i].gradient)) continue;
      Instruction drop;
      drop.kind = InstructionKind::Free;
      drop.unit = make_id<UnitId>(i);
      drop.frees = {units_[i].gradient};
      b_.emit(std::move(drop));
    }
  }

  // CPUOffload: in the first forward, for good (init_flat_param_attributes).
  void make_host_gradients() {
    for (std::size_t i = 0; i < units_.size(); ++i) {
      if (!units_[i].trained) continue;
      Instruction take;
      take.kind = InstructionKind::Alloc;
      take.stream = streams_.host->stream;
      take.unit = make_id<UnitId>(i);
      take.allocates = {units_[i].host_gradient};
      b_.emit(std::move(take));
    }
  }

  // The order is known from the second forward on.
  void prefetch_in_forward(UnitId unit) {
    if (!prefetch_.forward || (b_.is_first() && micro_batch() == 0)) return;
    const auto current = std::find(pre_forward_order_.begin(), pre_forward_order_.end(), unit);
    if (current + 1 == pre_forward_order_.end()) return;
    FlatUnit& next = state(*(current + 1));
    if (next.prefetched) return;
    unshard_.unshard(*(current + 1));
    next.prefetched = true;
    if (next.trained && !next.reentrant) next.prefetched_by = unit;
  }

  // The unit whose forward ended before this one's, if its backward is still to come.
  void prefetch_in_backward(UnitId unit) {
    const auto current = std::find(post_forward_order_.begin(), post_forward_order_.end(), unit);
    if (current == post_forward_order_.begin() || current == post_forward_order_.end()) return;
    FlatUnit& target = state(*(current - 1));
    if (!target.needs_pre_backward_unshard || target.prefetched) return;
    unshard_.unshard(*(current - 1));
    target.prefetched = true;
  }

  bool frees_in_backward() const {
    return settings_.sharded && (reduces() || settings_.reshards_after_forward);
  }

  // The hook of a frozen unit hangs on its inputs and reshards only.
  void run_post_backward(UnitId unit) {
    if (!state(unit).trained) {
      if (b_.partition().unit(unit).inputs_require_grad) reshard_in_backward(unit);
      return;
    }
    const std::vector<BufferId> gradients = live_gradients(unit);
    if (gradients.empty()) return;
    reduce_.flatten(unit, gradients);
    reshard_in_backward(unit);
    if (reduces()) {
      reduce_.reduce(unit);
    } else {
      reduce_.keep(unit);
    }
  }

  void reshard_in_backward(UnitId unit) {
    unshard_.reshard(unit, frees_in_backward(), where("backward"));
    if (prefetch_.backward == BackwardPrefetch::post) prefetch_in_backward(unit);
  }

  // The final callback takes back what no hook came to: frozen units below which nothing is trained.
  void reshard_all() {
    for (std::size_t i = 0; i < units_.size(); ++i) {
      const FlatUnit& unit = units_[i];
      if (unit.has_parameters && unit.full != unit.stored && b_.is_live(unit.full))
        unshard_.reshard(make_id<UnitId>(i), frees_in_backward(), where("backward"));
    }
  }

  const PrefetchSpec& prefetch_;
  Settings settings_;
  Streams streams_;
  GroupId group_;
  std::optional<GroupId> replicate_;
  std::vector<FlatUnit> units_;  // by UnitId
  fsdp1::Unshard unshard_;
  fsdp1::ReduceGradient reduce_;
  std::vector<UnitId> pre_forward_order_, post_forward_order_;
};

// Without synchronisation parameters that forward leaves stay gathered from the first micro-batch to the
// last.
std::optional<double> volume_limit(const Scenario& scenario) {
  const Fsdp1Sharding sharding = scenario.parallel->sharding;
  if (sharding == Fsdp1Sharding::no_shard) return replicated_volume(scenario);
  const double micro_batches = micro_batches_of_step(scenario);
  if (reshards_after_forward(sharding)) return sharded_volume(scenario, 2 * micro_batches);
  return sharded_volume(scenario, reduces_every_micro_batch(scenario) ? micro_batches : 1);
}

}  // namespace

extern const StrategyReasons k_fsdp1_reasons;  // fsdp1_reasons.cpp

extern constexpr StrategyType k_fsdp1_strategy{
    .make = [](StepBuilder& builder, const Scenario& scenario) -> std::unique_ptr<Strategy> {
      return std::make_unique<Fsdp1Strategy>(builder, scenario);
    },
    .reasons = &k_fsdp1_reasons,
    .volume_limit = volume_limit,
    .require_gradients = fsdp1::require_gradients,
    .check_regions = fsdp1::check_regions,
};

}  // namespace shardlab

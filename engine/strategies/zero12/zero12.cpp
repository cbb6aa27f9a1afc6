// ZeRO-1 and ZeRO-2: every rank holds all weights and computes with them; optimizer states, and under ZeRO-2
// reduced gradients, are cut into one part a rank.
//
// Source: DeepSpeed 0.19.8, runtime/zero/stage_1_and_2.py and runtime/engine.py. Stage 2, and stage 1 with
// overlap_comm, take each gradient as it becomes ready; stage 1 without takes all after the backward of the
// last micro-batch, in the order of definition. After that: does any gradient overflow (16-bit training
// only), their norm, a float32 copy of the part, the optimizer, and the updated weights of all ranks.
#include <algorithm>

#include "engine/scenario/mesh.h"
#include "engine/strategies/gradient_order.h"
#include "engine/strategies/parameter_buffers.h"
#include "engine/strategies/strategy.h"
#include "engine/strategies/zero12/bf16_optimizer.h"
#include "engine/strategies/zero12/reduction.h"

namespace shardlab {
namespace {

enum class Stage : std::uint8_t { one, two };

std::vector<bool> used_twice(const ModelGraph& graph) {
  std::vector<int> uses(graph.parameters.size(), 0);
  for (const Operator& op : graph.operators) {
    for (const ParameterId parameter : op.parameters) ++uses[parameter.index()];
  }
  std::vector<bool> twice;
  for (const int count : uses) twice.push_back(count > 1);
  return twice;
}

// The operator with whose backward the first gradient is complete.
OperatorId first_completed(const std::vector<OperatorId>& ready, const std::vector<ParameterId>& order) {
  OperatorId first{0};
  for (const ParameterId parameter : order) first = std::max(first, ready[parameter.index()]);
  return first;
}

class ZeroStrategy : public Strategy {
 public:
  ZeroStrategy(StepBuilder& builder, const Scenario& scenario, Stage stage)
      : Strategy(builder),
        options_(zero_options(scenario)),
        takes_at_once_(stage == Stage::two || options_.overlaps(1)),
        reduces_always_(stage == Stage::two),
        accumulation_(micro_batches_of_step(scenario)),
        host_(add_optimizer_host(builder, scenario)),
        ranks_(resolve_mesh(scenario).shard),
        group_(builder.add_group(GroupDimension::shard, ranks_)),
        ready_(completing_operators(builder.graph())),
        tied_(used_twice(builder.graph())),
        order_(takes_at_once_ ? arrival_order(builder.graph()) : parameters_with_gradients(builder.graph())),
        first_complete_(first_completed(ready_, order_)) {}

  void declare_persistent() override {
    weights_.emplace(b_, root(), ranks_, group_, host_, options_.round_robin_gradients);
    frozen_ = declare_frozen(b_, root(), weights_->dtype());
    if (host_) {
      // Which micro-batches leave sums in host memory.
      const bool sums_there = reduces_always_ && !sums_apart();
      gradients_.emplace(b_, *weights_, root(), *host_, accumulation_, sums_there ? accumulation_ : 1);
    }
    reduction_.emplace(b_, *weights_, options_, root(), group_, order_, host_ ? &*gradients_ : nullptr);
  }

  void begin_micro_batch(int micro_batch, bool reduce_gradients) override {
    Strategy::begin_micro_batch(micro_batch, reduces_always_ || reduce_gradients);
    next_ = 0;
  }

  void gradients_ready(SegmentId segment) override {
    const OperatorId begin = b_.partition().segment(segment).begin;
    const std::size_t first = next_;
    while (next_ < order_.size() && is_ready(order_[next_], begin)) ++next_;
    if (begin <= first_complete_) reduction_->open(micro_batch());
    if (takes_at_once_ && reduces()) take(first, next_);
  }

  void end_of_backward() override {
    if (!reduces()) return;
    if (!takes_at_once_) take(0, order_.size());
    reduction_->close();
  }

  BufferId compute_parameters(UnitId) const override { return weights_->weights(); }
  BufferId compute_parameter(ParameterId parameter) const override {
    return b_.graph().parameter(parameter).requires_grad ? weights_->weights() : *frozen_;
  }

  TrainedState trained() const override {
    TrainedState trained;
    trained.norm_group = group_;
    trained.sums_one_norm = true;
    trained.measures_norm = options_.compute_grad_norm;
    if (weights_->dtype() != DType::float32) trained.checks_overflow = true;
    trained.holds_scale = weights_->dtype() == DType::float16;
    if (host_) {
      trained.looked_through = trained.gradients_outlive_step = true;
      trained.stream = host_->stream;
      trained.space = MemorySpace::pageable_host;
    }
    trained.units.push_back({root(), weights_->master(), {reduced_gradient()}});
    return trained;
  }

  void prepare_update() override {
    if (host_) return;
    if (reduction_->accumulates_apart()) {
      update_gradient_ = reduction_->part().front();
      return;
    }
    const BufferId part = reduction_->part().front();
    if (weights_->dtype() == DType::float32) {
      update_gradient_ = copy(part, "update_gradient", DType::float32);
    } else {
      const BufferId joined = copy(part, "joined_gradient", weights_->dtype());
      update_gradient_ = copy(joined, "update_gradient", DType::float32);
      b_.free({joined});
    }
    b_.free(reduction_->part());
    reduction_->drop_part();
  }

  void after_update() override {
    if (update_gradient_) b_.free({*update_gradient_});
    if (host_ && sums_apart()) {
      b_.free(reduction_->part());
      reduction_->drop_part();
    }
    weights_->gather();
  }

 protected:
  // One that waits for another use of its parameter must not hold up its neighbours; one that is reduced
  // where it lies has no neighbours.
  bool has_own_gradient_buffer(ParameterId parameter) const override {
    return tied_[parameter.index()] || reduction_->is_oversized(parameter);
  }

 private:
  // Micro-batches are added up in another dtype than the parameters'.
  bool sums_apart() const {
    return options_.grad_accum_dtype.value_or(weights_->dtype()) != weights_->dtype();
  }

  BufferId reduced_gradient() const {
    if (host_) return gradients_->part();
    return update_gradient_ ? *update_gradient_ : reduction_->part().front();
  }

  bool is_ready(ParameterId parameter, OperatorId begin) const {
    return !takes_at_once_ || ready_[parameter.index()] >= begin;
  }

  // Those of order_ in [first, last), buffer by buffer.
  void take(std::size_t first, std::size_t last) {
    while (first < last) {
      const BufferId buffer = gradient_buffer(order_[first]);
      std::size_t end = first + 1;
      while (end < last && gradient_buffer(order_[end]) == buffer) ++end;
      reduction_->take(buffer, std::span(order_).subspan(first, end - first));
      first = end;
    }
  }

  BufferId copy(BufferId from, std::string name, DType dtype) {
    const BufferId to = b_.declare(weights_->part(std::move(name), BufferClass::gradient_shard, dtype));
    Instruction copy = make_copy(b_, root(), {from}, {to});
    copy.allocates = {to};
    b_.emit(std::move(copy));
    return to;
  }

  const ZeroOptions options_;
  const bool takes_at_once_;   // gradients, when they are ready
  const bool reduces_always_;  // in every micro-batch
  const int accumulation_;
  const std::optional<HostState> host_;  // where the optimizer works, if not on the device
  const int ranks_;
  const GroupId group_;
  const std::vector<OperatorId> ready_;  // by ParameterId
  const std::vector<bool> tied_;         // by ParameterId: several operators add to its gradient
  const std::vector<ParameterId> order_;
  const OperatorId first_complete_;  // its hook makes the bucket (setup_buckets)
  std::size_t next_ = 0;  // index into order_: the first gradient of this micro-batch that is not ready
  std::optional<FlatGroup> weights_;
  std::optional<BufferId> frozen_;  // parameters
  std::optional<HostGradients> gradients_;
  std::optional<GradientReduction> reduction_;
  std::optional<BufferId> update_gradient_;
};

template <Stage stage>
std::unique_ptr<Strategy> make(StepBuilder& builder, const Scenario& scenario) {
  if (stage == Stage::one && takes_bf16_optimizer(scenario)) return make_bf16_optimizer(builder, scenario);
  return std::make_unique<ZeroStrategy>(builder, scenario, stage);
}

// Gradients are taken one by one: no segment completes those of two operators.
std::vector<OperatorId> cuts_at_gradients(const ModelGraph& graph, const Scenario&) {
  std::vector<OperatorId> cuts;
  const std::vector<OperatorId> ready = completing_operators(graph);
  for (const ParameterId parameter : parameters_with_gradients(graph))
    cuts.push_back(ready[parameter.index()]);
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

// The gradients twice, as an all-reduce sends them, and the updated weights once.
std::optional<double> volume_of_last(const Scenario&) {
  return 3;
}
std::optional<double> volume_of_each(const Scenario& scenario) {
  return 2.0 * micro_batches_of_step(scenario) + 1;
}

}  // namespace

extern const StrategyReasons k_zero12_reasons;  // zero12_reasons.cpp

extern constexpr StrategyType k_zero1_strategy{
    .make = make<Stage::one>,
    .reasons = &k_zero12_reasons,
    .volume_limit = volume_of_last,
    .extra_cuts = cuts_at_gradients,
};

extern constexpr StrategyType k_zero2_strategy{
    .make = make<Stage::two>,
    .reasons = &k_zero12_reasons,
    .volume_limit = volume_of_each,
    .extra_cuts = cuts_at_gradients,
};

}  // namespace shardlab

// DistributedDataParallel: every rank holds all parameters; gradients are copied into buckets, averaged and copied back.
//
// Source: torch 2.11, csrc/distributed/c10d/reducer.cpp with gradient_as_bucket_view=False. A bucket is reduced when it is ready and
// all buckets before it were (they are issued in bucket order); the copies back happen at the end of backward.
#include <algorithm>

#include <fmt/format.h>

#include "engine/strategies/ddp_buckets.h"
#include "engine/strategies/parameter_buffers.h"
#include "engine/strategies/strategy.h"

namespace shardlab {
namespace {

class DdpStrategy : public Strategy {
 public:
  DdpStrategy(StepBuilder& builder, const Scenario& scenario)
      : Strategy(builder),
        buckets_(make_buckets(builder.graph(), scenario.parallel.ddp)),
        completing_(completing_operators(builder.graph(), buckets_)),
        stream_(builder.add_stream("all_reduce")),
        group_(builder.add_group("replicate", world_size(scenario))) {}

  void declare_persistent() override {
    for (std::size_t i = 0; i < b_.partition().units.size(); ++i) {
      parameters_.push_back(declare_persistent_buffer(
          b_, unit_buffer(b_, make_id<UnitId>(i), "param", BufferClass::parameter, BufferLayout::parameters,
                          b_.graph().compute_dtype, 1, StepBuilder::compute())));
    }
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      Buffer buffer;
      buffer.name = fmt::format("bucket.{}", i);
      buffer.buffer_class = BufferClass::reduce_buffer;
      buffer.dtype = b_.graph().compute_dtype;
      buffer.elements = buckets_[i].bytes.value / element_size(buffer.dtype);
      buffer.layout = BufferLayout::parameters;
      buffer.parameters = buckets_[i].parameters;
      bucket_buffers_.push_back(declare_persistent_buffer(b_, std::move(buffer)));
    }
  }

  void begin_micro_batch(int micro_batch, bool reduce_gradients) override {
    Strategy::begin_micro_batch(micro_batch, reduce_gradients);
    reduced_.clear();
  }

  void gradients_ready(SegmentId segment) override {
    if (!reduces()) return;
    const OperatorId begin = b_.partition().segment(segment).begin;
    while (reduced_.size() < buckets_.size() && completing_[reduced_.size()] >= begin) reduce_next_bucket();
  }

  void end_of_backward() override {
    for (std::size_t i = 0; i < reduced_.size(); ++i) {
      Instruction unpack;
      unpack.kind = InstructionKind::Unpack;
      unpack.bytes = buckets_[i].bytes;
      unpack.reads = {bucket_buffers_[i]};
      unpack.writes = gradients_of(buckets_[i]);
      unpack.waits = {reduced_[i]};
      b_.emit(std::move(unpack));
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
  void reduce_next_bucket() {
    const std::size_t index = reduced_.size();
    Instruction pack;
    pack.kind = InstructionKind::Pack;
    pack.bytes = buckets_[index].bytes;
    pack.reads = gradients_of(buckets_[index]);
    pack.writes = {bucket_buffers_[index]};
    const InstructionId packed = b_.emit(std::move(pack));
    Instruction reduce;
    reduce.kind = InstructionKind::AllReduce;
    reduce.stream = stream_;
    reduce.group = group_;
    reduce.reduce = ReduceOperation::average;
    reduce.bytes = buckets_[index].bytes;
    reduce.reads = reduce.writes = {bucket_buffers_[index]};
    reduce.waits = {packed};
    reduced_.push_back(b_.emit(std::move(reduce)));
  }

  std::vector<BufferId> gradients_of(const Bucket& bucket) {
    std::vector<BufferId> buffers;
    for (const ParameterId parameter : bucket.parameters) {
      const BufferId buffer = gradient_buffer(parameter);
      if (std::find(buffers.begin(), buffers.end(), buffer) == buffers.end()) buffers.push_back(buffer);
    }
    return buffers;
  }

  std::vector<Bucket> buckets_;
  std::vector<OperatorId> completing_;  // by bucket
  StreamId stream_;
  GroupId group_;
  std::vector<BufferId> parameters_;      // by UnitId
  std::vector<BufferId> bucket_buffers_;  // by bucket
  std::vector<InstructionId> reduced_;    // all-reduces of this micro-batch, by bucket
};

}  // namespace

extern const StrategyType k_ddp_strategy{
    "ddp",
    [](const ModelGraph& graph, const Scenario& scenario) {
      return completing_operators(graph, make_buckets(graph, scenario.parallel.ddp));
    },
    [](StepBuilder& builder, const Scenario& scenario) -> std::unique_ptr<Strategy> {
      return std::make_unique<DdpStrategy>(builder, scenario);
    }};

}  // namespace shardlab

// DistributedDataParallel: every rank holds all parameters; gradients are copied into buckets, averaged and copied back.
//
// Source: torch 2.11, csrc/distributed/c10d/reducer.cpp with gradient_as_bucket_view=False. A bucket is reduced when it is ready and
// all buckets before it were (they are issued in bucket order); the copies back happen at the end of backward. Before the forward
// that follows the first synchronised backward the one bucket of the beginning is dropped and the rebuilt ones take its place; rank 0
// tells the others which parameters are in which (sync_bucket_indices).
#include <algorithm>
#include <utility>

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
        spec_(scenario.parallel.ddp),
        rebuilds_in_first_step_(scenario.train.sync == "every" && scenario.train.accumulation > 1),
        stream_(builder.add_stream("all_reduce")),
        group_(builder.add_group("replicate", world_size(scenario))) {}

  void declare_persistent() override {
    for (std::size_t i = 0; i < b_.partition().units.size(); ++i) {
      parameters_.push_back(declare_persistent_buffer(
          b_, unit_buffer(b_, make_id<UnitId>(i), "param", BufferClass::parameter, BufferLayout::parameters,
                          b_.graph().compute_dtype, 1, StepBuilder::compute())));
    }
    const std::string& phase = b_.plan().phase;
    if (phase == "steady") {
      use(rebuilt_buckets(b_.graph(), spec_), "bucket");
    } else {
      use(first_buckets(b_.graph()), "firstbucket");
    }
    for (Buffer& buffer : buffers_of_buckets()) buffers_.push_back(declare_persistent_buffer(b_, std::move(buffer)));
  }

  void begin_micro_batch(int micro_batch, bool reduce_gradients) override {
    Strategy::begin_micro_batch(micro_batch, reduce_gradients);
    reduced_.clear();
    const std::string& phase = b_.plan().phase;
    const bool second_backward = phase == "first" && rebuilds_in_first_step_ && micro_batch == 1;
    if (second_backward || (phase == "second" && micro_batch == 0)) rebuild();
  }

  bool second_step_differs() const override { return !rebuilds_in_first_step_; }

  void gradients_ready(SegmentId segment) override {
    if (!reduces()) return;
    const OperatorId begin = b_.partition().segment(segment).begin;
    while (reduced_.size() < buckets_.size() && buckets_[reduced_.size()].completed_by >= begin) reduce_next_bucket();
  }

  void end_of_backward() override {
    for (std::size_t i = 0; i < reduced_.size(); ++i) {
      Instruction unpack;
      unpack.kind = InstructionKind::Unpack;
      unpack.bytes = buckets_[i].bytes;
      unpack.reads = {buffers_[i]};
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
  void use(std::vector<Bucket> buckets, std::string_view name) {
    buckets_ = std::move(buckets);
    name_ = name;
  }

  std::vector<Buffer> buffers_of_buckets() const {
    std::vector<Buffer> buffers;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      Buffer buffer;
      buffer.name = fmt::format("{}.{}", name_, i);
      buffer.buffer_class = BufferClass::reduce_buffer;
      buffer.dtype = b_.graph().compute_dtype;
      buffer.elements = buckets_[i].bytes.value / element_size(buffer.dtype);
      buffer.layout = BufferLayout::parameters;
      buffer.parameters = buckets_[i].parameters;
      buffers.push_back(std::move(buffer));
    }
    return buffers;
  }

  void rebuild() {
    use(rebuilt_buckets(b_.graph(), spec_), "bucket");
    tell_indices("bucket_indices", parameters_in_buckets() + 1);
    tell_indices("bucket_sizes", static_cast<std::int64_t>(buckets_.size()));
    b_.free(std::exchange(buffers_, {}));
    for (Buffer& buffer : buffers_of_buckets()) {
      buffers_.push_back(b_.declare(std::move(buffer)));
      emit_initialize(b_, buffers_.back(), std::nullopt);
    }
  }

  std::int64_t parameters_in_buckets() const {
    std::size_t count = 0;
    for (const Bucket& bucket : buckets_) count += bucket.parameters.size();
    return static_cast<std::int64_t>(count);
  }

  // A list of 32-bit numbers, from rank 0 to all.
  void tell_indices(std::string_view name, std::int64_t count) {
    Buffer buffer;
    buffer.name = name;
    buffer.buffer_class = BufferClass::scalar;
    buffer.dtype = DType::uint8;
    buffer.elements = 4 * count;
    const BufferId numbers = b_.declare(std::move(buffer));
    emit_initialize(b_, numbers, std::nullopt);
    Instruction tell;
    tell.kind = InstructionKind::Broadcast;
    tell.group = group_;
    tell.bytes = b_.plan().buffer(numbers).bytes();
    tell.reads = tell.writes = {numbers};
    b_.emit(std::move(tell));
    b_.free({numbers});
  }

  void reduce_next_bucket() {
    const std::size_t index = reduced_.size();
    Instruction pack;
    pack.kind = InstructionKind::Pack;
    pack.bytes = buckets_[index].bytes;
    pack.reads = gradients_of(buckets_[index]);
    pack.writes = {buffers_[index]};
    const InstructionId packed = b_.emit(std::move(pack));
    Instruction reduce;
    reduce.kind = InstructionKind::AllReduce;
    reduce.stream = stream_;
    reduce.group = group_;
    reduce.reduce = ReduceOperation::average;
    reduce.bytes = buckets_[index].bytes;
    reduce.reads = reduce.writes = {buffers_[index]};
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

  const DdpSpec& spec_;
  const bool rebuilds_in_first_step_;
  StreamId stream_;
  GroupId group_;
  std::vector<Bucket> buckets_;
  std::string name_;                    // of their buffers
  std::vector<BufferId> buffers_;       // by bucket
  std::vector<BufferId> parameters_;    // by UnitId
  std::vector<InstructionId> reduced_;  // all-reduces of this micro-batch, by bucket
};

}  // namespace

extern const StrategyType k_ddp_strategy{
    "ddp",
    [](const ModelGraph& graph, const Scenario& scenario) {
      std::vector<OperatorId> cuts;
      for (const Bucket& bucket : rebuilt_buckets(graph, scenario.parallel.ddp)) cuts.push_back(bucket.completed_by);
      return cuts;
    },
    [](StepBuilder& builder, const Scenario& scenario) -> std::unique_ptr<Strategy> {
      return std::make_unique<DdpStrategy>(builder, scenario);
    }};

}  // namespace shardlab

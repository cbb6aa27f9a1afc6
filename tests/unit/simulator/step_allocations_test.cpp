// The allocator calls of steps against the plan's own sums and the simulated memory, and how buffers are
// divided into tensors.
#include "simulator/memory/allocations/step_allocations.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "engine/planner/plan_scenario.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/read_scenario.h"
#include "simulator/memory/step_memory.h"
#include "tests/catch.h"
#include "tests/unit/simulator/small_scenario.h"

namespace shardlab {
namespace {

// What the calls keep alive, followed call by call; every storage must be taken once and given once.
class Ledger {
 public:
  explicit Ledger(const StepAllocations& made) : made_(made) {
    for (const LastingStorage& storage : made.carried) add(storage.storage, storage.bytes);
  }
  Bytes live() const { return live_; }

  // The calls of an instruction; gives the most that was alive within it.
  Bytes follow(std::size_t instruction) {
    Bytes most = live_;
    for (; next_ < made_.ends[instruction]; ++next_) {
      const AllocationCall& call = made_.calls[next_];
      if (call.kind == CallKind::take)
        add(call.storage, call.bytes);
      else
        remove(call.storage);
      most = std::max(most, live_);
    }
    return most;
  }

  const std::map<StorageIndex, Bytes>& storages() const { return alive_; }

 private:
  void add(StorageIndex storage, Bytes bytes) {
    CHECK(alive_.emplace(storage, bytes).second);
    CHECK(bytes > Bytes{});
    live_ += bytes;
  }
  void remove(StorageIndex storage) {
    const auto found = alive_.find(storage);
    REQUIRE(found != alive_.end());
    live_ -= found->second;
    alive_.erase(found);
  }

  const StepAllocations& made_;
  std::map<StorageIndex, Bytes> alive_;
  Bytes live_;
  std::size_t next_ = 0;
};

// What a setup of flat vectors takes on its way is in no plan.
bool passes_more(const PlannedScenario& planned, const StepPlan& plan, WhoseStorages whose) {
  return plan.phase == PlanPhase::setup && whose == WhoseStorages::framework &&
         planned.scenario.parallel->strategy == "fsdp1";
}

void check_step(const PlannedScenario& planned, const StepPlan& plan, WhoseStorages whose) {
  const auto made = step_allocations(planned, plan, whose);
  REQUIRE_OK(made);
  const auto samples = simulate_memory(planned, plan, 0);
  REQUIRE_OK(samples);
  REQUIRE(made->ends.size() == plan.instructions.size());
  Ledger ledger(*made);
  CHECK(ledger.live() == carried_bytes(plan));
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    INFO(to_string(plan.phase) << ", " << instruction_label(plan, make_id<InstructionId>(i)));
    const Bytes peak = ledger.follow(i);
    if (passes_more(planned, plan, whose)) continue;
    // Torch adds a gradient to another by making both, the plan in place.
    if (whose == WhoseStorages::framework && plan.micro_batches > 1)
      CHECK(peak >= (*samples)[i].peak);
    else
      CHECK(peak == (*samples)[i].peak);
    CHECK(ledger.live() == (*samples)[i].live);
  }
  if (!samples->empty()) CHECK(ledger.live() == samples->back().live);
  CHECK(ledger.storages().size() == made->kept.size());
  for (const LastingStorage& kept : made->kept) CHECK(ledger.storages().at(kept.storage) == kept.bytes);
}

TEST_CASE("storages taken and given back are the plan's live bytes, within instructions too") {
  for (const char* sections :
       {"parallel: {strategy: ddp}", "parallel: {strategy: fsdp2}", "parallel: {strategy: native}",
        "parallel: {strategy: fsdp2, reshard_after_forward: false}\nactivation: {checkpoint: full}",
        "parallel: {strategy: fsdp1}\nprecision: {param: bfloat16, reduce: float32}",
        "parallel: {strategy: fsdp1, use_orig_params: false}",
        "parallel: {strategy: fsdp2}\nprecision: {param: bfloat16, reduce: float32}"}) {
    for (const char* train : {"clip_norm: 1.0", "accumulation: 2, optimizer_implementation: foreach",
                              "accumulation: 2, sync: last, optimizer_implementation: loop"}) {
      for (const char* model : {"implementation: eager", "implementation: fused"}) {
        INFO(sections << ", " << train << ", " << model);
        const PlannedScenario planned =
            test::small_scenario(sections, train, "{device: cpu, ranks: 2}", model);
        for (const WhoseStorages whose : {WhoseStorages::framework, WhoseStorages::executor}) {
          for (const StepPlan* plan : planned.plan.all()) check_step(planned, *plan, whose);
        }
      }
    }
  }
}

// Blocks of exactly this size that the steady step takes.
std::ptrdiff_t taken(const PlannedScenario& planned, WhoseStorages whose, Bytes bytes) {
  const auto made = step_allocations(planned, planned.plan.steady, whose);
  REQUIRE_OK(made);
  return std::count_if(made->calls.begin(), made->calls.end(), [&](const AllocationCall& call) {
    return call.kind == CallKind::take && call.bytes == bytes;
  });
}

// The module has one variable for the logits, the quotient, the tanh and the product.
TEST_CASE("of a soft cap's tensors two are there at a time") {
  const auto scenario = parse_scenario(
      "model: {config: gemma-2-2b, sequence_length: 64, overrides: {num_hidden_layers: 1}}\n"
      "cluster: {node: hgx-h100}\nparallel: {strategy: fsdp2}\n"
      "precision: {param: bfloat16, reduce: float32}\n",
      "a.yaml");
  REQUIRE_OK(scenario);
  const auto planned = plan_scenario(*scenario);
  REQUIRE_OK(planned);
  const auto made = step_allocations(*planned, planned->plan.steady, WhoseStorages::framework);
  REQUIRE_OK(made);
  const Bytes logits = bytes_of(64 * 256000, DType::bfloat16);
  std::set<StorageIndex> alive;
  std::size_t most = 0;
  for (const AllocationCall& call : made->calls) {
    if (call.kind == CallKind::take && call.bytes == logits * 2) break;  // cross-entropy's float32 copy
    if (call.kind != CallKind::take)
      alive.erase(call.storage);
    else if (call.bytes == logits)
      alive.insert(call.storage);
    most = std::max(most, alive.size());
  }
  CHECK(most == 2);
}

TEST_CASE("a refilled bucket of DeepSpeed is one block, however often the plan fills it") {
  const auto planned = [](const std::string& strategy) {
    return test::small_scenario("parallel: {strategy: " + strategy + ", zero: {reduce_bucket_size: 300000}}",
                                "accumulation: 2");
  };
  const Bytes bucket = bytes_of(300000, DType::float32);
  CHECK(taken(planned("zero2"), WhoseStorages::framework, bucket) == 2);  // once a micro-batch
  CHECK(taken(planned("zero3"), WhoseStorages::framework, bucket) == 0);  // it lives as long as the run
  const PlannedScenario zero3 = planned("zero3");
  const auto made = step_allocations(zero3, zero3.plan.steady, WhoseStorages::framework);
  REQUIRE_OK(made);
  CHECK(made->carried.size() == made->kept.size());
}

std::size_t tensors_of(const PlannedScenario& planned, const std::string& name, WhoseStorages whose) {
  for (const Buffer& buffer : planned.plan.steady.buffers) {
    if (buffer.name == name) return storages_of(planned.graph, buffer, whose).size();
  }
  FAIL(name);
  return 0;
}

// A layer of tiny-llama has nine parameters.
TEST_CASE("FSDP2 has a tensor a parameter where torch has, and one a unit for collectives") {
  const PlannedScenario planned = test::small_scenario("parallel: {strategy: fsdp2}");
  const auto framework = [&](const std::string& name) {
    return tensors_of(planned, name, WhoseStorages::framework);
  };
  CHECK(framework("shard.u0") == 9);
  CHECK(framework("exp_avg.u0") == 9);
  CHECK(framework("full.u0") == 9);
  CHECK(framework("gathered.u0") == 1);
  CHECK(framework("rsin.u0") == 1);
  CHECK(framework("gshard.u0") == 1);
  CHECK(tensors_of(planned, "shard.u0", WhoseStorages::executor) == 1);
}

TEST_CASE("FSDP1's optimizer sees parts of parameters only with use_orig_params") {
  const PlannedScenario original = test::small_scenario("parallel: {strategy: fsdp1}");
  const PlannedScenario flat = test::small_scenario("parallel: {strategy: fsdp1, use_orig_params: false}");
  CHECK(tensors_of(original, "shard.u0", WhoseStorages::framework) == 1);
  CHECK(tensors_of(original, "exp_avg.u0", WhoseStorages::framework) > 1);
  CHECK(tensors_of(flat, "exp_avg.u0", WhoseStorages::framework) == 1);
}

// Calls of the frees that name streams beside the buffer's own, by buffer class of what they free.
std::map<BufferClass, std::size_t> recorded_frees(const StepPlan& plan, const StepAllocations& made) {
  std::map<BufferClass, std::size_t> recorded;
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    if (plan.instructions[i].frees.size() != 1) continue;
    const std::uint32_t begin = i == 0 ? 0 : made.ends[i - 1];
    for (std::uint32_t call = begin; call < made.ends[i]; ++call)
      recorded[plan.buffer(plan.instructions[i].frees[0]).buffer_class] += made.calls[call].users != 0;
  }
  return recorded;
}

TEST_CASE("a recorded free names the streams that used the buffer") {
  const PlannedScenario planned = test::small_scenario("parallel: {strategy: fsdp1}");
  const StepPlan& plan = planned.plan.steady;
  const auto made = step_allocations(planned, plan, WhoseStorages::executor);
  REQUIRE_OK(made);
  std::size_t recorded = 0;
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    CHECK(made->streams[i] == plan.instructions[i].stream);
    const std::uint32_t begin = i == 0 ? 0 : made->ends[i - 1];
    for (std::uint32_t call = begin; call < made->ends[i]; ++call) {
      CHECK((made->calls[call].users != 0) == plan.instructions[i].recorded);
      recorded += made->calls[call].users != 0;
    }
  }
  CHECK(recorded > 0);
}

// Six layers and the root. Forward drops what was gathered of the layers, recorded; backward's hooks drop
// what all seven have, which torch need not record.
TEST_CASE("FSDP1's gradients are joined on the stream that gathers") {
  const PlannedScenario planned = test::small_scenario("parallel: {strategy: fsdp1}");
  const StepPlan& plan = planned.plan.steady;
  const auto own = step_allocations(planned, plan, WhoseStorages::executor);
  const auto made = step_allocations(planned, plan, WhoseStorages::framework);
  REQUIRE_OK(own);
  REQUIRE_OK(made);
  std::size_t joins = 0;
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    if (plan.instructions[i].kind != InstructionKind::Pack) continue;
    CHECK(plan.streams[made->streams[i].index()].name == "unshard");
    const AllocationCall& joined = made->calls[made->ends[i] - 1];
    CHECK(joined.kind == CallKind::take);
    CHECK(joined.stream == made->streams[i]);
    ++joins;
  }
  CHECK(joins == 7);
  auto in_torch = recorded_frees(plan, *made), in_plan = recorded_frees(plan, *own);
  CHECK(in_plan[BufferClass::gathered_parameters] == 13);
  CHECK(in_torch[BufferClass::gathered_parameters] == 6);
}

// The calls of one setup: above zero is taken, below given back.
std::vector<std::int64_t> sizes_of(const StepAllocations& made) {
  std::vector<std::int64_t> sizes;
  std::map<StorageIndex, Bytes> taken;
  for (const AllocationCall& call : made.calls) {
    if (call.kind == CallKind::take) taken[call.storage] = call.bytes;
    sizes.push_back(call.kind == CallKind::take ? call.bytes.value : -taken.at(call.storage).value);
  }
  return sizes;
}

// Layers before the model that holds them. Of each its nine parameters whole, all of them joined, the rank's
// half; then the first forward's trial of what is gathered into, the model before its layers.
TEST_CASE("FSDP1's setup makes every unit whole before it cuts off the rank's part") {
  const PlannedScenario planned =
      test::small_scenario("parallel: {strategy: fsdp1}\nprecision: {param: bfloat16, reduce: float32}");
  const StepPlan& setup = planned.plan.setup;
  const auto made = step_allocations(planned, setup, WhoseStorages::framework);
  REQUIRE_OK(made);
  const std::vector<std::int64_t> sizes = sizes_of(*made);
  const auto shard_of = [&](std::size_t unit) {
    const auto found = std::find_if(setup.buffers.begin(), setup.buffers.end(), [&](const Buffer& buffer) {
      return buffer.buffer_class == BufferClass::parameter_shard && buffer.unit == make_id<UnitId>(unit);
    });
    return found->bytes().value;
  };
  const std::int64_t layer = shard_of(1), root = shard_of(0);
  CHECK(std::accumulate(sizes.begin(), sizes.begin() + 9, std::int64_t{0}) == 2 * layer);
  CHECK(sizes[9] == 2 * layer);
  CHECK(sizes[10] == layer);
  CHECK(sizes[11] == -2 * layer);
  CHECK(std::accumulate(sizes.begin() + 12, sizes.begin() + 21, std::int64_t{0}) == -2 * layer);
  const std::size_t layers = 6 * 21;
  CHECK(std::count(sizes.begin(), sizes.begin() + layers, layer) == 6);
  const auto model = std::find(sizes.begin() + layers, sizes.end(), root);
  REQUIRE(model != sizes.end());
  const auto trial = std::find(model, sizes.end(), root / 2);
  REQUIRE(sizes.end() - trial > 12);
  CHECK(std::vector<std::int64_t>(trial, trial + 6) ==
        std::vector<std::int64_t>{root / 2, -root / 2, root, -root, 2 * root, -2 * root});
  CHECK(trial[6] == layer / 2);
}

// The gradient of the loss: a scalar, two tensors of float32 for the logits, of which the first goes, then
// the logarithms that forward kept, and only then the gradient in bfloat16 is made.
TEST_CASE("the loss gives back what it kept before its gradient is cast") {
  const PlannedScenario planned =
      test::small_scenario("parallel: {strategy: fsdp2}\nprecision: {param: bfloat16, reduce: float32}", "",
                           "{device: cpu, ranks: 2}", "implementation: eager");
  const StepPlan& plan = planned.plan.steady;
  const auto made = step_allocations(planned, plan, WhoseStorages::framework);
  REQUIRE_OK(made);
  std::size_t at = 0;
  while (plan.instructions[at].kind != InstructionKind::Backward) ++at;
  const std::vector<std::int64_t> sizes = sizes_of(*made);
  const auto begin = sizes.begin() + made->ends[at - 1];
  const std::int64_t wide = *std::max_element(begin, begin + 3);
  const auto first = std::find(begin, sizes.end(), wide);
  CHECK(first[1] == wide);
  CHECK(first[2] == -wide);
  const auto cast = std::find(first, sizes.end(), wide / 2);
  CHECK(std::count(first, cast, -wide) == 2);
}

// In DDP's second micro-batch: what a Backward takes and gives back of its own parameters' size.
TEST_CASE("a gradient that is added to another is made first") {
  const PlannedScenario planned = test::small_scenario("parallel: {strategy: ddp}", "accumulation: 2");
  const StepPlan& plan = planned.plan.steady;
  Bytes own, torch;
  for (const WhoseStorages whose : {WhoseStorages::executor, WhoseStorages::framework}) {
    const auto made = step_allocations(planned, plan, whose);
    REQUIRE_OK(made);
    for (const AllocationCall& call : made->calls)
      if (call.kind == CallKind::take) (whose == WhoseStorages::framework ? torch : own) += call.bytes;
  }
  Bytes parameters;
  for (const Parameter& parameter : planned.graph.parameters)
    parameters += bytes_of(parameter.elements(), DType::float32);
  CHECK(torch - own == parameters);
}

TEST_CASE("the first matrix products of forward and of backward are marked") {
  const PlannedScenario planned = test::small_scenario("parallel: {strategy: ddp}");
  const auto made = step_allocations(planned, planned.plan.steady, WhoseStorages::framework);
  REQUIRE_OK(made);
  REQUIRE(made->forward_product);
  REQUIRE(made->backward_product);
  CHECK(*made->forward_product > 0);
  CHECK(*made->backward_product > *made->forward_product);
  CHECK(*made->backward_product < made->calls.size());
  const auto setup = step_allocations(planned, planned.plan.setup, WhoseStorages::framework);
  REQUIRE_OK(setup);
  CHECK(!setup->forward_product);
}

}  // namespace
}  // namespace shardlab

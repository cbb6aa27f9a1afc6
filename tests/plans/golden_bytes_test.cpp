// Resident bytes of FSDP2, event by event, against those recorded from real PyTorch on a model small enough to follow by hand.
#include <algorithm>

#include <fmt/format.h>

#include "engine/model/graph_builder.h"
#include "engine/passes/free_activations.h"
#include "engine/plan/check.h"
#include "engine/strategies/driver.h"
#include "engine/strategies/optimizer_tail.h"
#include "tests/catch.h"
#include "tests/plans/plan_cases.h"

namespace shardlab::test {
namespace {

// Embedding 20 x 10 and head 20 x 15 in the root, four units of one 20 x 50 weight: rows divide by 4 ranks. Widths do not chain;
// the planner only needs the order of operators and the sizes of parameters.
ModelGraph golden_model() {
  GraphOptions options;
  options.compute_dtype = DType::bfloat16;
  GraphBuilder builder("golden", options);
  const ModuleId model = builder.add_module(std::nullopt, "", "Model");
  std::vector<std::pair<ModuleId, ParameterId>> linears;
  const auto add = [&](const char* name, const char* class_name, Shape shape) {
    const ModuleId module = builder.add_module(model, name, class_name);
    linears.emplace_back(module, builder.add_parameter(module, "weight", std::move(shape), InitialValue::ones));
  };
  add("embed", "Embedding", {20, 10});
  for (const char* name : {"u0", "u1", "u2", "u3"}) add(name, "Unit", {20, 50});
  add("head", "Linear", {20, 15});
  const TensorId tokens = builder.add_input("tokens", {1, 1}, DType::int64, TensorRole::tokens);
  const TensorId targets = builder.add_input("targets", {1, 1}, DType::int64, TensorRole::targets);
  TensorId x = builder.add_operator(k_embedding, linears[0].first, {tokens}, {linears[0].second}, "hidden", {1, 1, 50});
  for (std::size_t i = 1; i < linears.size(); ++i) {
    x = builder.add_operator(k_linear, linears[i].first, {x}, {linears[i].second}, "hidden", {1, 1, 50});
  }
  const TensorId loss = builder.add_operator(k_cross_entropy, model, {x, targets}, {}, "loss", Shape{});
  return builder.finish(loss, "Unit", 4, 20);
}

StepPlan golden_plan(const ModelGraph& graph, const Scenario& scenario) {
  std::vector<ModuleId> units;
  for (std::size_t i = 0; i < graph.modules.size(); ++i) {
    if (graph.modules[i].class_name == "Unit") units.push_back(make_id<ModuleId>(i));
  }
  const Partition partition = make_partition(graph, units, {});
  StepBuilder builder(graph, partition, "steady", "fsdp2");
  const auto strategy = k_fsdp2_strategy.make(builder, scenario);
  strategy->declare_persistent();
  drive_step(builder, *strategy, scenario.train);
  emit_optimizer_tail(builder, *strategy, scenario.train);
  builder.plan().world_size = world_size(scenario);
  return free_activations(builder.finish());
}

bool is_engine_memory(const Buffer& buffer) {
  switch (buffer.buffer_class) {
    case BufferClass::activation:
    case BufferClass::activation_gradient:
    case BufferClass::batch:
    case BufferClass::scalar: return false;
    default: return true;
  }
}

// The plan in the words of the data file. Sums of allocations or frees that the plan makes at once appear as one line.
std::vector<std::string> events(const StepPlan& plan) {
  std::vector<std::string> lines;
  std::int64_t resident = 0;
  for (const Buffer& buffer : plan.buffers) resident += buffer.carried ? buffer.bytes().value : 0;
  for (const Instruction& instruction : plan.instructions) {
    const std::int64_t before = resident;
    for (const BufferId id : instruction.allocates) resident += is_engine_memory(plan.buffer(id)) ? plan.buffer(id).bytes().value : 0;
    if (resident != before) lines.push_back(fmt::format("resident {}", resident));
    if (is_collective(instruction.kind)) {
      lines.push_back(fmt::format("{} {} at {}", to_string(instruction.kind), instruction.bytes.value, resident));
    }
    if (instruction.kind == InstructionKind::OptimizerStep) lines.emplace_back("optimizer");
    if (instruction.kind == InstructionKind::ZeroGradients) lines.emplace_back("zero_grad");
    const std::int64_t held = resident;
    for (const BufferId id : instruction.frees) resident -= is_engine_memory(plan.buffer(id)) ? plan.buffer(id).bytes().value : 0;
    if (resident != held) lines.push_back(fmt::format("resident {}", resident));
  }
  return lines;
}

// A run of recorded `resident` lines going one way (per-parameter allocations, one tensor freed after the other) is one event of the
// plan: only its last value stays.
std::vector<std::string> merged(const std::vector<std::string>& lines) {
  const auto value = [](const std::string& line) { return std::stoll(line.substr(9)); };
  std::vector<std::string> result;
  long long before_run = 13500;
  for (const std::string& line : lines) {
    const bool resident = line.rfind("resident ", 0) == 0;
    const bool continues = resident && !result.empty() && result.back().rfind("resident ", 0) == 0 &&
                           (value(line) > value(result.back())) == (value(result.back()) > before_run);
    if (continues) {
      result.back() = line;
      continue;
    }
    if (!result.empty() && result.back().rfind("resident ", 0) == 0) before_run = value(result.back());
    result.push_back(line);
  }
  return result;
}

}  // namespace

TEST_CASE("FSDP2's resident bytes equal the recorded ones event by event") {
  const ModelGraph graph = golden_model();
  for (const PlanCase& golden : read_cases("golden_bytes")) {
    INFO(golden.name);
    std::vector<std::string> overrides = golden.overrides;
    overrides.insert(overrides.end(), {"cluster.ranks=4", "precision.param=bfloat16", "precision.reduce=float32"});
    const StepPlan plan = golden_plan(graph, small_llama(overrides));
    REQUIRE(check_plan(plan));

    // `stop` ends the comparison of events: the file says why.
    std::vector<std::string> expected;
    for (const std::string& line : golden.lines) {
      if (line == "stop") break;
      if (line.rfind("peak", 0) != 0 && line.rfind("optimizer_peak", 0) != 0 && line.rfind("at_rest", 0) != 0) expected.push_back(line);
    }
    const std::vector<std::string> found = events(plan);
    const std::vector<std::string> wanted = merged(expected);
    std::vector<std::string> compared = merged(found);
    const bool whole = std::find(golden.lines.begin(), golden.lines.end(), "stop") == golden.lines.end();
    if (!whole && compared.size() > wanted.size()) compared.resize(wanted.size());
    CHECK(wanted.size() > 40);
    CHECK(fmt::format("{}", fmt::join(compared, "\n")) == fmt::format("{}", fmt::join(wanted, "\n")));

    std::int64_t peak = 0;
    for (const std::string& line : found) {
      if (line.rfind("resident ", 0) == 0) peak = std::max<std::int64_t>(peak, std::stoll(line.substr(9)));
    }
    CHECK(std::to_string(peak) == value_of(golden, "peak"));
    CHECK(std::to_string(carried_bytes(plan).value) == value_of(golden, "at_rest"));
  }
}

// torch.optim on a CPU goes from parameter to parameter.
TEST_CASE("the optimizer's temporaries equal the recorded ones") {
  const ModelGraph graph = golden_model();
  for (const PlanCase& golden : read_cases("golden_bytes")) {
    INFO(golden.name);
    std::vector<std::string> overrides = golden.overrides;
    overrides.insert(overrides.end(), {"cluster.ranks=4", "precision.param=bfloat16", "precision.reduce=float32",
                                       "train.optimizer_implementation=loop"});
    const StepPlan plan = golden_plan(graph, small_llama(overrides));
    REQUIRE(check_plan(plan));
    const std::vector<std::string> lines = events(plan);
    const auto optimizer = std::find(lines.begin(), lines.end(), "optimizer");
    REQUIRE(optimizer > lines.begin());
    CHECK(*(optimizer - 1) == "resident " + value_of(golden, "optimizer_peak"));
  }
}

}  // namespace shardlab::test

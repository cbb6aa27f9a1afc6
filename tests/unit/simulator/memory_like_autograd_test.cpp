// What is alive when, as autograd and Python have it: gradients of parameters, hidden states, inputs of
// checkpoints, and the loss.
#include <algorithm>

#include "engine/plan/gradient_parts.h"
#include "engine/plan/step_plan.h"
#include "tests/catch.h"
#include "tests/unit/simulator/small_scenario.h"

namespace shardlab {
namespace {

const Instruction& first_of(const StepPlan& plan, InstructionKind kind) {
  return *std::find_if(plan.instructions.begin(), plan.instructions.end(),
                       [&](const Instruction& i) { return i.kind == kind; });
}

template <typename T>
bool contains(const std::vector<T>& list, T value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

TEST_CASE("each gradient is allocated by the step whose operator has its parameter") {
  const PlannedScenario planned = test::small_scenario("parallel: {strategy: fsdp2}");
  const StepPlan& plan = planned.plan.steady;
  std::size_t parts_in_all = 0;
  for (const Instruction& instruction : plan.instructions) {
    if (instruction.kind != InstructionKind::Backward) continue;
    const Program& program = planned.partition.segment(*instruction.segment).programs.backward;
    const auto parts = gradient_parts(planned.graph, plan, instruction, program);
    REQUIRE(parts.size() == program.steps.size());
    Bytes sum, promised;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      for (const GradientPart& part : parts[i]) {
        const ParameterId parameter = plan.buffer(part.buffer).parameters[part.part];
        CHECK(contains(planned.graph.op(program.steps[i].op).parameters, parameter));
        sum += part.bytes;
        ++parts_in_all;
      }
    }
    for (const BufferId buffer : instruction.allocates) {
      if (plan.buffer(buffer).buffer_class == BufferClass::gradient) promised += plan.buffer(buffer).bytes();
    }
    CHECK(sum == promised);
  }
  CHECK(parts_in_all == planned.graph.parameters.size());
}

TEST_CASE("gradients in one storage come with the first of them") {
  const PlannedScenario planned = test::small_scenario("parallel: {strategy: native}");
  const StepPlan& plan = planned.plan.steady;
  int whole = 0;
  for (const Instruction& instruction : plan.instructions) {
    if (instruction.kind != InstructionKind::Backward) continue;
    const Program& program = planned.partition.segment(*instruction.segment).programs.backward;
    const auto parts = gradient_parts(planned.graph, plan, instruction, program);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      for (const GradientPart& part : parts[i]) {
        const Buffer& buffer = plan.buffer(part.buffer);
        if (buffer.layout == BufferLayout::separate_parameters) continue;
        CHECK(part.bytes == buffer.bytes());
        CHECK(contains(buffer.parameters, planned.graph.op(program.steps[i].op).parameters.at(0)));
        ++whole;
      }
    }
  }
  CHECK(whole == 6);  // one a layer
}

// An eager norm keeps a copy in float32, so that nobody reads the last hidden state behind it.
TEST_CASE("the last hidden state goes when the norm behind it returns") {
  const PlannedScenario planned =
      test::small_scenario("parallel: {strategy: fsdp2}\nprecision: {param: bfloat16, reduce: float32}",
                           "accumulation: 1", "{device: cpu, ranks: 2}", "implementation: eager");
  const Segment& tail = planned.partition.segments.back();
  REQUIRE(tail.programs.forward_frees.size() == 1);
  const TensorId hidden = tail.programs.forward_frees.front();
  const Program& program = tail.programs.forward;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const bool frees =
        std::any_of(program.steps[i].frees.begin(), program.steps[i].frees.end(), [&](ValueIndex value) {
          return program.values[value].tensor == hidden &&
                 program.values[value].origin == ValueOrigin::tensor_buffer;
        });
    CHECK(frees == (i == 0));
  }
}

TEST_CASE("a checkpoint holds what it was called with until its backward is over") {
  const PlannedScenario planned =
      test::small_scenario("parallel: {strategy: fsdp2}\nactivation: {checkpoint: full}", "accumulation: 1",
                           "{device: cpu, ranks: 2}", "implementation: eager");
  const StepPlan& plan = planned.plan.steady;
  int held = 0;
  for (const Instruction& instruction : plan.instructions) {
    if (instruction.kind != InstructionKind::Backward) continue;
    const Segment& segment = planned.partition.segment(*instruction.segment);
    if (!segment.region || planned.partition.region(*segment.region).first != *instruction.segment) continue;
    for (const TensorId input : segment.inputs) {
      if (planned.graph.tensor(input).role != TensorRole::activation) continue;
      held += std::any_of(instruction.reads.begin(), instruction.reads.end(), [&](BufferId buffer) {
        return plan.buffer(buffer).tensor == input &&
               plan.buffer(buffer).buffer_class == BufferClass::activation;
      });
    }
  }
  CHECK(held == static_cast<int>(planned.partition.regions.size()));
}

TEST_CASE("a loss outside of the model comes before the root's hooks of backward") {
  const auto order = [](const std::string& model) {
    const PlannedScenario planned = test::small_scenario("parallel: {strategy: fsdp2}", "accumulation: 1",
                                                         "{device: cpu, ranks: 2}", model);
    const StepPlan& plan = planned.plan.steady;
    const Instruction& backward = first_of(plan, InstructionKind::Backward);
    const auto at = static_cast<std::size_t>(&backward - plan.instructions.data());
    int gathers_before = 0;  // since the last forward
    for (std::size_t i = at; plan.instructions[i].kind != InstructionKind::Forward; --i)
      gathers_before += plan.instructions[i].kind == InstructionKind::AllGather;
    return gathers_before;
  };
  CHECK(order("loss: {place: inside}") == 1);
  CHECK(order("loss: {place: outside}") == 0);
}

}  // namespace shardlab

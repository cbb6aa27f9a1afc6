// What DeepSpeed takes of gradients beside a plan's buffers, against sizes added up from the model's
// parameters.
#include "simulator/memory/allocations/gradient_copies.h"

#include <algorithm>

#include "engine/plan/buffer.h"
#include "simulator/memory/allocations/step_allocations.h"
#include "tests/catch.h"
#include "tests/unit/simulator/small_scenario.h"

namespace shardlab {
namespace {

PlannedScenario zero2(const std::string& zero, const std::string& more = "") {
  return test::small_scenario("precision: {param: bfloat16}\nparallel: {strategy: zero2, zero: {" + zero +
                              "}}" + more);
}

struct Owned {
  std::vector<std::int64_t> pieces;  // elements that the rank owns of one parameter after the other
  std::int64_t touched = 0;          // elements of the whole parameters
};

// Two ranks share the parameters in the order of definition; the end is rounded up to four elements.
Owned owned_by(const ModelGraph& graph, std::int64_t rank) {
  std::int64_t all = 0, offset = 0;
  for (const Parameter& parameter : graph.parameters) all += parameter.elements();
  const std::int64_t part = (all + 3) / 4 * 2;
  Owned owned;
  for (const Parameter& parameter : graph.parameters) {
    const std::int64_t first = std::max(offset, rank * part);
    const std::int64_t last = std::min(offset + parameter.elements(), (rank + 1) * part);
    offset += parameter.elements();
    if (first >= last) continue;
    owned.pieces.push_back(last - first);
    owned.touched += parameter.elements();
  }
  return owned;
}

// The rank with the largest piece; the last of equals.
Owned owned_by_chosen(const ModelGraph& graph) {
  const auto largest = [](const Owned& owned) {
    return *std::max_element(owned.pieces.begin(), owned.pieces.end());
  };
  const Owned first = owned_by(graph, 0), second = owned_by(graph, 1);
  return largest(first) > largest(second) ? first : second;
}

std::vector<Bytes> sizes(const std::vector<std::int64_t>& elements, DType dtype) {
  std::vector<Bytes> bytes;
  for (const std::int64_t each : elements) bytes.push_back(bytes_of(each, dtype));
  return bytes;
}

// What is taken within the instruction, in torch's place.
std::vector<Bytes> taken_in(const PlannedScenario& planned, std::size_t instruction) {
  const auto made = step_allocations(planned, planned.plan.steady, WhoseStorages::framework);
  REQUIRE_OK(made);
  std::vector<Bytes> taken;
  for (std::size_t i = instruction == 0 ? 0 : made->ends[instruction - 1]; i < made->ends[instruction]; ++i) {
    if (made->calls[i].kind == CallKind::take) taken.push_back(made->calls[i].bytes);
  }
  return taken;
}

template <typename Predicate>
std::size_t first_instruction(const StepPlan& plan, Predicate&& predicate) {
  const auto found = std::find_if(plan.instructions.begin(), plan.instructions.end(), predicate);
  REQUIRE(found != plan.instructions.end());
  return static_cast<std::size_t>(found - plan.instructions.begin());
}

bool is_unpack(const Instruction& instruction) {
  return instruction.kind == InstructionKind::Unpack && !instruction.allocates.empty();
}

}  // namespace

TEST_CASE("ZeRO-2 measures the norm of one gradient after the other in float64") {
  const PlannedScenario planned = zero2("");
  const std::size_t norms = first_instruction(planned.plan.steady, [](const Instruction& each) {
    return each.kind == InstructionKind::GradientNorms;
  });
  std::vector<Bytes> expected = sizes(owned_by_chosen(planned.graph).pieces, DType::float64);
  expected.insert(expected.begin(), Bytes{4});  // the norm
  CHECK(taken_in(planned, norms) == expected);
}

TEST_CASE("ZeRO-2 keeps whole gradients of a rank's parameters in one tensor") {
  const PlannedScenario planned = zero2("");
  const std::int64_t most = std::max(owned_by(planned.graph, 0).touched, owned_by(planned.graph, 1).touched);
  CHECK(taken_in(planned, first_instruction(planned.plan.steady, is_unpack)) ==
        std::vector{bytes_of(most, DType::bfloat16)});
}

TEST_CASE("ZeRO-2 widens one gradient after the other to add it to sums in float32") {
  const PlannedScenario planned = zero2("grad_accum_dtype: fp32");
  const Owned owned = owned_by_chosen(planned.graph);
  std::vector<Bytes> taken;
  for (std::size_t i = 0; i < planned.plan.steady.instructions.size(); ++i) {
    if (!is_unpack(planned.plan.steady.instructions[i])) continue;
    for (const Bytes bytes : taken_in(planned, i)) taken.push_back(bytes);
  }
  // One bucket holds all gradients, as they arrive, after the sums themselves.
  std::vector<Bytes> expected = sizes(owned.pieces, DType::float32);
  REQUIRE(taken.size() == expected.size() + 1);
  taken.erase(taken.begin());
  std::sort(taken.begin(), taken.end());
  std::sort(expected.begin(), expected.end());
  CHECK(taken == expected);
}

TEST_CASE("with the optimizer on the host ZeRO-2 measures and widens each gradient as it leaves") {
  const PlannedScenario planned = zero2("", "\noffload: {optimizer: cpu}");
  const std::size_t leaves = first_instruction(planned.plan.steady, [](const Instruction& each) {
    return each.kind == InstructionKind::Cast && !each.allocates.empty() && each.frees == each.allocates;
  });
  std::vector<Bytes> expected;
  for (const std::int64_t elements : owned_by_chosen(planned.graph).pieces) {
    expected.push_back(bytes_of(elements, DType::float64));
    expected.push_back(bytes_of(elements, DType::float32));
  }
  std::vector<Bytes> taken = taken_in(planned, leaves);
  std::sort(taken.begin(), taken.end());
  std::sort(expected.begin(), expected.end());
  CHECK(taken == expected);
}

TEST_CASE("what one rank owns of a gradient larger than a bucket is reduced where it lies") {
  const PlannedScenario planned =
      test::small_scenario("parallel: {strategy: zero2, zero: {reduce_bucket_size: 1000}}", "clip_norm: 1.0",
                           "{device: cpu, ranks: 3}");
  const StepPlan& plan = planned.plan.steady;
  int in_place = 0;
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    const Instruction& pack = plan.instructions[i];
    if (pack.kind != InstructionKind::Pack || pack.allocates.empty()) continue;
    if (plan.buffer(pack.allocates.front()).layout != BufferLayout::flat_range) continue;
    ++in_place;
    CHECK(pack.bytes == Bytes{});
    CHECK(taken_in(planned, i).empty());
  }
  CHECK(in_place == 4);  // two parameters lie on both sides of a border between ranks
}

TEST_CASE("the first complete gradient makes ZeRO's bucket") {
  for (const std::string strategy : {"zero1", "zero2"}) {
    INFO(strategy);
    const PlannedScenario planned = test::small_scenario("parallel: {strategy: " + strategy + "}");
    const StepPlan& plan = planned.plan.steady;
    const std::size_t bucket =
        first_instruction(plan, [](const Instruction& each) { return each.kind == InstructionKind::Alloc; });
    const std::size_t gradient = first_instruction(plan, [&](const Instruction& each) {
      return std::any_of(each.allocates.begin(), each.allocates.end(),
                         [&](BufferId id) { return plan.buffer(id).buffer_class == BufferClass::gradient; });
    });
    CHECK(bucket > gradient);
    CHECK(bucket <= gradient + 2);  // an activation is given back between them
  }
}

}  // namespace shardlab

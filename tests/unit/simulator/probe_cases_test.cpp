#include "simulator/calibrate/probe_cases.h"

#include <algorithm>
#include <set>

#include "engine/model/operators/operator_type.h"
#include "engine/model/operators/probe_recipe.h"
#include "tests/catch.h"
#include "tests/unit/simulator/small_scenario.h"

namespace shardlab {
namespace {

bool contains(const std::vector<ProbeCase>& cases, const ProbeCase& probe) {
  return std::find(cases.begin(), cases.end(), probe) != cases.end();
}

// Learned positions, experts, what adds a product, eager attention (products and kernels between them),
// chunked and distilled losses have no sizes: predictions take the figures of memory and of products.
void check_covers_operators(const std::vector<ProbeCase>& cases, std::initializer_list<const char*> dtypes) {
  CHECK(std::set<ProbeCase>(cases.begin(), cases.end()).size() == cases.size());
  for (const OperatorType* type : operator_types()) {
    if (type->probe == nullptr || type->probe->at == nullptr) continue;
    for (const char* dtype : dtypes) {
      const std::string name = std::string(type->name) + dtype;
      INFO(name);
      CHECK(std::any_of(cases.begin(), cases.end(),
                        [&](const ProbeCase& probe) { return probe.probe == name; }));
    }
  }
}

TEST_CASE("the standard cases are distinct and cover every operator in both dtypes") {
  const std::vector<ProbeCase> cases = standard_probe_cases();
  check_covers_operators(cases, {".float32", ".bfloat16"});
  CHECK(contains(cases, {"all_gather", {{"bytes", 4096}}}));
  CHECK(contains(cases, {"reduce_scatter", {{"bytes", 64 << 20}}}));
}

TEST_CASE("so do the cases of a GPU, in the shapes of larger models") {
  const std::vector<ProbeCase> cases = gpu_probe_cases();
  check_covers_operators(cases, {".float32", ".bfloat16"});
  CHECK(contains(cases, {"all_gather", {{"bytes", 1 << 30}}}));
  CHECK(contains(cases, {"linear.bfloat16", {{"rows", 4096}, {"inputs", 8192}, {"outputs", 8192}}}));
}

TEST_CASE("the cases of a model are its operators, each shape once") {
  const PlannedScenario planned = test::small_scenario("parallel: {strategy: fsdp2}");
  const std::vector<ProbeCase> cases = probe_cases_of(planned.graph);
  // tiny-llama, 2 x 32 tokens: q and o 256 x 256, k and v 256 x 128, gate and up, down, head 256 x 256 (as
  // q).
  CHECK(contains(cases, {"linear.float32", {{"rows", 64}, {"inputs", 256}, {"outputs", 256}}}));
  CHECK(contains(cases, {"linear.float32", {{"rows", 64}, {"inputs", 256}, {"outputs", 128}}}));
  CHECK(contains(cases, {"linear.float32", {{"rows", 64}, {"inputs", 256}, {"outputs", 688}}}));
  CHECK(contains(cases, {"linear.float32", {{"rows", 64}, {"inputs", 688}, {"outputs", 256}}}));
  CHECK(contains(cases, {"attention.float32",
                         {{"batch", 2}, {"sequence", 32}, {"heads", 8}, {"kv_heads", 4}, {"head_dim", 32}}}));
  CHECK(contains(cases, {"swiglu.float32", {{"rows", 64}, {"width", 688}}}));
  // 4 products; attention; rope on q and on k; norm, add, swiglu, embedding, cross-entropy.
  CHECK(cases.size() == 12);
}

}  // namespace
}  // namespace shardlab

#include "engine/scenario/choose_implementation.h"

#include "engine/scenario/distillation_spec.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/run_spec.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

Scenario scenario_of(const std::string& model, const std::string& cluster, const std::string& more = "") {
  const auto scenario =
      parse_scenario("model: {config: tiny-llama, sequence_length: 16" + model + "}\ncluster: {" + cluster +
                         "}\nparallel: {strategy: fsdp2}\n" + more,
                     "a.yaml");
  REQUIRE_OK(scenario);
  return *scenario;
}

constexpr const char* k_gpus = "node: hgx-h100";
constexpr const char* k_processors = "device: cpu, ranks: 2";

}  // namespace

TEST_CASE("on GPUs a model is computed as PyTorch's users do, on processors as we do") {
  CHECK(choose_implementation(scenario_of("", k_gpus)) == Implementation::eager);
  CHECK(choose_implementation(scenario_of("", k_processors)) == Implementation::fused);
  CHECK(choose_implementation(scenario_of(", implementation: fused", k_gpus)) == Implementation::fused);
  CHECK(choose_implementation(scenario_of(", implementation: eager", k_processors)) == Implementation::eager);
}

TEST_CASE("what a scenario leaves open can be decided, for a teacher too") {
  const std::string teacher = "distillation: {teacher: {config: tiny-llama}}";
  CHECK_FALSE(with_implementation(scenario_of(", implementation: eager", k_gpus), Implementation::fused));
  const auto decided = with_implementation(scenario_of("", k_gpus, teacher), Implementation::fused);
  REQUIRE(decided);
  CHECK(decided->model->implementation == Implementation::fused);
  CHECK(decided->distillation->teacher.model->implementation == Implementation::fused);
  const auto of_teacher =
      with_implementation(scenario_of(", implementation: eager", k_gpus, teacher), Implementation::fused);
  REQUIRE(of_teacher);
  CHECK(of_teacher->model->implementation == Implementation::eager);
  CHECK(of_teacher->distillation->teacher.model->implementation == Implementation::fused);
}

TEST_CASE("a choice that nobody made is not written down") {
  CHECK(write_scenario(scenario_of("", k_gpus)).find("implementation") == std::string::npos);
}

TEST_CASE("who issues: PyTorch's program where operators are its own, ours where we run") {
  const Scenario open = scenario_of("", k_gpus);
  CHECK(choose_host(open) == HostProgram::python);
  CHECK(choose_host(scenario_of(", implementation: fused", k_gpus)) == HostProgram::shardlab);
  CHECK(choose_host(scenario_of(", implementation: eager", k_processors)) == HostProgram::shardlab);
  CHECK(choose_host(issued_by_our_executor(open)) == HostProgram::shardlab);

  Scenario said = open;
  said.semantics->host = HostProgram::python;
  CHECK(choose_host(issued_by_our_executor(said)) == HostProgram::python);
}

}  // namespace shardlab

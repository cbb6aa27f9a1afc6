#include <fstream>
#include <iterator>

#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/run_spec.h"
#include "engine/scenario/train_spec.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST_CASE("write: what was read is written and read back equal") {
  for (const std::string name : {"everything.yaml", "distillation.yaml", "zero.yaml"}) {
    INFO(name);
    const auto first = parse_scenario_with_source(text_of(test::data_file("scenario/good/" + name)), name);
    REQUIRE_OK(first);
    const std::string written = write_scenario(first->scenario);
    INFO(written);
    const auto second = parse_scenario_with_source(written, name);
    REQUIRE_OK(second);
    CHECK(second->scenario == first->scenario);
    CHECK(write_scenario(second->scenario) == written);
  }
}

TEST_CASE("write: strange texts survive") {
  Scenario scenario;
  scenario.model->config = "tiny-llama";
  scenario.model->sequence_length = 16;
  scenario.cluster->device = DeviceKind::cpu;
  scenario.cluster->ranks = 1;
  for (const std::string text :
       {"null",     "true",   "- a",   "a: b",     "#x",  "x #y", "[a",  "{",   "'",   "\"",
        "\\",       "a\nb\n", "\ttab", " padded ", "*x",  "&x",   "!x",  "%x",  "@x",  "`x",
        "ü and 漢", "12",     "1e3",   "~",        "---", "...",  "? x", "a,b", "none"}) {
    INFO(text);
    scenario.name = text;
    scenario.tags = {text, "x"};
    scenario.launch->environment = {{text, text}};
    scenario.model->overrides = {{"hidden_act", "\"x\""}};
    const auto read = parse_scenario(write_scenario(scenario), "a.yaml");
    REQUIRE_OK(read);
    CHECK(*read == scenario);
  }
}

TEST_CASE("write: only what differs from the defaults") {
  Scenario scenario;
  scenario.parallel->strategy = "ddp";
  scenario.model->loss = {LossKind::chunked, 1};
  scenario.train->learning_rate = 0.1;
  CHECK(write_scenario(scenario) ==
        "model:\n  loss: chunked\nparallel:\n  strategy: ddp\ntrain:\n  learning_rate: 0.1\n");
  CHECK(write_scenario(Scenario{}) == "{}\n");
}

}  // namespace
}  // namespace shardlab

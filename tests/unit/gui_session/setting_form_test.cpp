#include "gui/session/setting_form.h"

#include <algorithm>

#include "engine/scenario/keys/sections.h"
#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"

namespace shardlab::gui {
namespace {

const FormField& field(const std::string& key) {
  for (const FormSection& section : form_sections())
    for (const FormField& candidate : section.fields)
      if (candidate.key == key) return candidate;
  FAIL("no field " << key);
  return form_sections().front().fields.front();
}

YamlNode tree(const std::string& text) {
  return parse_yaml(text, "text").value();
}

}  // namespace

TEST_CASE("every key of the reference is in the form, with help, except parts of lists") {
  std::vector<KeyLine> lines;
  describe_section(scenario_keys(), {}, lines);
  std::size_t expected = 0, found = 0;
  for (const KeyLine& line : lines) expected += line.path.find("[]") == std::string::npos ? 1 : 0;
  for (const FormSection& section : form_sections()) {
    for (const FormField& known : section.fields) {
      ++found;
      INFO(known.key);
      CHECK_FALSE(known.help.empty());
      CHECK_FALSE(known.type.empty());
    }
  }
  CHECK(found == expected);
  CHECK(found > 100);
}

TEST_CASE("a field says which of its values are refused as not built, and what works") {
  CHECK(field("model.attention").unsupported ==
        "predicted, not run yet: flash3, triton, efficient (nearest that works: auto)");
  CHECK_THAT(field("limits.gpus").unsupported, test::contains_text("not supported yet: all values"));
  CHECK(field("train.micro_batch").unsupported.empty());
}

TEST_CASE("the short form has what decides a prediction most: operators, GPU, when gradients are reduced") {
  for (const char* key : {"model.implementation", "cluster.gpu", "train.sync", "train.accumulation",
                          "activation.checkpoint", "parallel.strategy"}) {
    INFO(key);
    CHECK(field(key).common);
  }
  CHECK_FALSE(field("model.attention").common);
}

TEST_CASE("controls follow the type") {
  CHECK(field("train.micro_batch").control == FieldControl::integer);
  CHECK(field("train.micro_batch").least == 1);
  CHECK(field("parallel.ddp.static_graph").control == FieldControl::toggle);
  const FormField& strategy = field("parallel.strategy");
  CHECK(strategy.control == FieldControl::choice);
  CHECK(std::count(strategy.choices.begin(), strategy.choices.end(), "fsdp2") == 1);
  const FormField& load = field("model.moe.load");  // a word, or a list of shares
  CHECK(load.control == FieldControl::text);
  CHECK(load.choices == std::vector<std::string>{"balanced", "measured", "worst"});
  const FormField& config = field("model.config");
  CHECK(config.control == FieldControl::text);
  CHECK(std::count(config.choices.begin(), config.choices.end(), "llama-3-8b") == 1);
}

TEST_CASE("a field shows what is given, else its default, and applies by its condition") {
  const YamlNode root = tree("parallel: {strategy: fsdp2}\ntrain: {micro_batch: 8k}\n");
  const FieldState given = field_state(field("train.micro_batch"), root, {});
  CHECK(given.given == "8k");
  const FieldState missing = field_state(field("train.accumulation"), root, {});
  CHECK_FALSE(missing.given);
  CHECK(missing.shown(field("train.accumulation")) == "1");
  CHECK(field_state(field("parallel.reshard_after_forward"), root, {}).applies);
  CHECK_FALSE(field_state(field("parallel.sharding"), root, {}).applies);
  CHECK(field_state(field("parallel.wrap.policy"), root, {}).applies);
  CHECK_FALSE(field_state(field("parallel.ddp.bucket_size"), root, {}).applies);
  CHECK(field_state(field("parallel.wrap.classes"), root, {}).applies);
  CHECK_FALSE(field_state(field("parallel.wrap.min_params"), root, {}).applies);
}

TEST_CASE("a word that stands for a whole section is shown where it belongs") {
  const YamlNode root = tree("parallel: {strategy: fsdp2, wrap: none}\n");
  const FieldState policy = field_state(field("parallel.wrap.policy"), root, {});
  CHECK(policy.given == "none");
  CHECK(policy.key == "parallel.wrap");
  CHECK_FALSE(field_state(field("parallel.wrap.classes"), root, {}).given);
  CHECK(field_state(field("parallel.strategy"), root, {}).key == "parallel.strategy");
}

TEST_CASE("problems find their field and their line") {
  const std::string text =
      "model: {config: llama-3-8b, sequence_length: 128}\n"
      "cluster: {node: hgx-h100}\n"
      "train:\n"
      "  micro_batch: 0\n"
      "  optimizer: adamx\n";
  const auto scenario = parse_scenario(text, "dir:1/s.yaml");
  REQUIRE_FALSE(scenario);
  const std::vector<ProblemLine> lines = problem_lines(scenario.error(), "dir:1/s.yaml");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].place == TextPlace{4, 16});
  CHECK(lines[1].place == TextPlace{5, 14});
  const YamlNode root = tree(text);
  CHECK_FALSE(field_state(field("train.micro_batch"), root, lines).problem.empty());
  CHECK_FALSE(field_state(field("train.optimizer"), root, lines).problem.empty());
  CHECK(field_state(field("train.accumulation"), root, lines).problem.empty());
}

TEST_CASE("an error without a place in the text is still a line") {
  const auto lines =
      problem_lines(Error{ErrorKind::bad_input, "/models/config.json", "is no JSON", "look"}, "s.yaml");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].text == "/models/config.json: is no JSON");
  CHECK_FALSE(lines[0].place);
}

TEST_CASE("typed texts become YAML that reads as that text") {
  CHECK(as_yaml(field("name"), "two words") == "two words");
  CHECK(as_yaml(field("name"), "a: b") == "'a: b'");
  CHECK(as_yaml(field("name"), "[x") == "'[x'");
  CHECK(as_yaml(field("name"), "it's: [") == "'it''s: ['");
  CHECK(as_yaml(field("parallel.wrap.classes"), "[A, B]") == "[A, B]");
}

}  // namespace shardlab::gui

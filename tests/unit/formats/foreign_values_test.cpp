// Files of other tools as their loaders type them: JSON, DeepSpeed's human form of it, YAML 1.1.
#include "engine/formats/foreign/foreign_value.h"

#include <string>

#include "engine/formats/foreign/check_keys.h"
#include "engine/formats/foreign/python_yaml.h"
#include "engine/formats/foreign/relaxed_json.h"
#include "engine/formats/foreign/yaml_references.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

using Kind = ForeignValue::Kind;

std::string json_error(const std::string& text, JsonForm form = JsonForm::strict) {
  const auto read = parse_foreign_json(text, "a.json", form);
  return read ? "" : to_string(read.error());
}

TEST_CASE("foreign JSON: values with their places") {
  const auto root = parse_foreign_json(
      "{\n  \"a\": [1, 2.5, \"x\\n\"],\n  \"b\": {\"c\": 5e8, \"d\": null}\n}", "a.json", JsonForm::strict);
  REQUIRE(root);
  CHECK(root->find("a")->items[1].number == 2.5);
  CHECK(root->find("a")->items[2].text == "x\n");
  CHECK(root->find("b.c")->integer == 500'000'000);
  CHECK(root->find("b.c")->is_integer());
  CHECK(root->find("b.d")->is_null());
  CHECK(to_string(root->find("b.c")->place) == "a.json:3:14");
  CHECK(root->find("b.e") == nullptr);
}

TEST_CASE("foreign JSON: a whole number that 64 bits do not hold is not nothing") {
  const auto root = parse_foreign_json(
      R"({"a": 99999999999999999999, "b": -9223372036854775809, "c": 9223372036854775807})", "a.json",
      JsonForm::strict);
  REQUIRE(root);
  CHECK(root->find("a")->number == 1e20);
  CHECK_FALSE(root->find("a")->is_integer());
  CHECK(root->find("b")->number == -0x1p63);
  CHECK_FALSE(root->find("b")->is_integer());
  CHECK(root->find("c")->integer == INT64_MAX);
}

TEST_CASE("foreign JSON: what is none is refused at its place") {
  CHECK(json_error("{\"a\": 1,}").find("a.json:1:8") == 0);
  CHECK(json_error("{\"a\": 1 \"b\": 2}").find("',' or '}' is missing") != std::string::npos);
  CHECK(json_error("{a: 1}").find("double quotes") != std::string::npos);
  CHECK(json_error("{\"a\": yes}").find("'yes' is no value") != std::string::npos);
  CHECK(json_error("{\"a\": 1, \"a\": 2}").find("duplicate key 'a'") != std::string::npos);
  CHECK(json_error("[1]").find("is a list, not a map") != std::string::npos);
  CHECK(json_error("{\"a\": 1} // why").find("after the end") != std::string::npos);
  CHECK(json_error(std::string(2000, '[')).find("nested too deeply") != std::string::npos);
  CHECK(json_error("{\"a\": \"\\q\"}").find("escape") != std::string::npos);
}

TEST_CASE("foreign JSON: the human form as hjson reads it") {
  const std::string text =
      "# a comment\n{\n  stage: 3 // of three\n  name: two words, and a comma\n  'quoted': true /* so */\n  "
      "list: [1 2\n 3,]\n"
      "  lines: '''\n    one\n    two\n    '''\n}";
  const auto root = parse_foreign_json(text, "a.json", JsonForm::human);
  REQUIRE(root);
  CHECK(root->find("stage")->integer == 3);
  CHECK(root->find("name")->text == "two words, and a comma");
  CHECK(root->find("quoted")->flag);
  REQUIRE(root->find("list")->items.size() == 2);
  CHECK(root->find("list")->items[0].text == "1 2");  // without quotes to the end of the line
  CHECK(root->find("lines")->kind == Kind::text);
  const auto open = parse_foreign_json("a: 1\nb: {c: 2}\n", "a.json", JsonForm::human);
  REQUIRE(open);
  CHECK(open->find("b.c")->integer == 2);
}

TEST_CASE("foreign YAML: scalars as PyYAML types them") {
  struct Row {
    const char* text;
    Kind kind;
  };
  const Row rows[] = {
      {"no", Kind::boolean},    {"Yes", Kind::boolean}, {"NO", Kind::boolean}, {"nO", Kind::text},
      {"off", Kind::boolean},   {"1e8", Kind::text},    {"1.0e8", Kind::text}, {"1.0e+8", Kind::number},
      {"5e-5", Kind::text},     {"0.5", Kind::number},  {".5", Kind::number},  {"010", Kind::integer},
      {"1_000", Kind::integer}, {"~", Kind::null},      {"", Kind::null},      {"Null", Kind::null},
      {"0x1f", Kind::integer},  {"8", Kind::integer},   {"bf16", Kind::text},  {"-1", Kind::integer}};
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(python_scalar(row.text).kind == row.kind);
  }
  CHECK(python_scalar("010").integer == 8);
  CHECK(python_scalar("1_000").integer == 1000);
  CHECK(python_scalar("0x1f").integer == 31);
}

// The value at x after its references are resolved, or what is wrong.
std::string referred(const std::string& text) {
  auto root = parse_python_yaml(text, "a.yaml");
  REQUIRE(root);
  std::vector<ForeignWarning> warnings;
  const Status done = resolve_references(*root, warnings);
  return done ? shown(*root->find("x")) : to_string(done.error());
}

TEST_CASE("foreign YAML: references are the values that they name") {
  CHECK(referred("x: ${a.b}\na: {b: 4}") == "4");
  CHECK(referred("x: ${a}\na: ${b}\nb: {c: [1, '${d}']}\nd: true") == "{\"c\":[1,true]}");
  CHECK(referred("x: out/${a}-${b}\na: 1.50\nb: y") == "\"out/1.50-y\"");
  CHECK(referred("x: '${oc.env:HOME} \\${a} ${.a} ${'\na: 1") == "\"${oc.env:HOME} \\\\${a} ${.a} ${\"");
}

TEST_CASE("foreign YAML: references that lead nowhere, in a circle or without end are refused") {
  CHECK(referred("x: ${a.b}\na: 1") == "a.yaml:1:4: ${a.b} names no key of this file");
  CHECK(referred("x: ${a}\na: [1, '${x}']").find("leads back to itself") != std::string::npos);
  CHECK(referred("x: a${a}\na: {b: 1}").find("stands within a text") != std::string::npos);
  std::string doubling = "x: ${k0}\n", chain = "x: ${k0}\n";
  for (int i = 0; i < 40; ++i) {
    doubling += "k" + std::to_string(i) + ": [ '${k" + std::to_string(i + 1) + "}', '${k" +
                std::to_string(i + 1) + "}' ]\n";
  }
  for (int i = 0; i < 1'000; ++i) chain += "k" + std::to_string(i) + ": ${k" + std::to_string(i + 1) + "}\n";
  CHECK(referred(doubling + "k40: 1").find("more of this file") != std::string::npos);
  CHECK(referred(chain + "k1000: 1").find("more of this file") != std::string::npos);
}

TEST_CASE("foreign keys: every type of the lists is one that is checked") {
  for (const char* name :
       {"accelerate", "deepspeed", "transformers", "transformers-4", "torchrun", "axolotl"}) {
    const auto tool = known_keys(name);
    REQUIRE(tool);
    CAPTURE(name);
    CHECK(!(*tool)->version.empty());
    for (const auto& [section_name, section] : (*tool)->sections) {
      CHECK(!section.keys.empty());
      for (const KnownKey& key : section.keys) {
        CAPTURE(section_name, key.name);
        CHECK(!key.types.empty());
        for (const KnownType& type : key.types) {
          if (type.kind == KnownType::Kind::section) CHECK((*tool)->sections.contains(type.section));
          if (type.kind == KnownType::Kind::word) CHECK(!type.words.empty());
        }
      }
      for (const auto& [alias, meant] : section.aliases) CHECK(section.find(meant) != nullptr);
      for (const auto& [unread, why] : section.unread) CHECK(section.find(unread) == nullptr);
    }
  }
}

}  // namespace
}  // namespace shardlab

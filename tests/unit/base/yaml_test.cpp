#include "engine/base/yaml.h"

#include "tests/catch.h"

namespace shardlab {
namespace {

YamlNode parsed(std::string_view text) {
  auto root = parse_yaml(text, "f.yaml");
  REQUIRE_OK(root);
  return *root;
}

TEST_CASE("yaml: values know their place and whether they were quoted") {
  const YamlNode root = parsed("a: 1\nb: {c: \"2\", d: [x, y]}\ne:\n");
  REQUIRE(root.is_map());
  CHECK(root.find("a")->place == in_file("f.yaml", 1, 4));
  CHECK_FALSE(root.find("a")->quoted);
  CHECK(root.find("b")->find("c")->quoted);
  CHECK(root.find("b")->find("d")->items.at(1).place == in_file("f.yaml", 2, 20));
  CHECK(root.find("e")->is_null());
  CHECK(root.find("f") == nullptr);
  CHECK(parsed("").is_null());
  CHECK(parsed("# only a comment\n").is_null());
}

TEST_CASE("yaml: aliases are copied in") {
  const YamlNode root = parsed("a: &x {k: 1}\nb: *x\n");
  CHECK(root.find("b")->find("k")->text == "1");
}

TEST_CASE("yaml: written trees read back, in both styles") {
  const YamlNode root = parsed(
      "a: {b: [1, two, null, \"\"], c: {d: \"x: y\", \"odd key\": -}, e: []}\nl: [{m: 1}, [n, [o]]]\n");
  const std::string flow = write_yaml_flow(root);
  CHECK(write_yaml_flow(parsed(flow)) == flow);
  CHECK(write_yaml_flow(parsed(write_yaml(root))) == flow);
}

TEST_CASE("yaml: deep nesting is refused, not recursed into") {
  const auto root = parse_yaml(std::string(60, '[') + std::string(60, ']'), "f.yaml");
  REQUIRE_FALSE(root.has_value());
  CHECK(to_string(root.error()) == "f.yaml:1:51: values are nested too deeply");
  CHECK_FALSE(parse_yaml(std::string(100'000, '['), "f.yaml").has_value());
  std::string chain = "a0: &a0 " + std::string(40, '[') + std::string(40, ']') + "\n";
  chain += "a1: &a1 " + std::string(40, '[') + "*a0" + std::string(40, ']') + "\n";
  const auto aliased = parse_yaml(chain, "f.yaml");
  REQUIRE_FALSE(aliased.has_value());
  CHECK(to_string(aliased.error()) == "f.yaml:2:49: values are nested too deeply");
}

TEST_CASE("yaml: what aliases stand for is counted in bytes as well") {
  std::string text = "a: &a " + std::string(128 << 10, 'x') + "\nb: [";
  for (int i = 0; i < 40'000; ++i) text += "*a,";
  const auto root = parse_yaml(text + "]\n", "f.yaml");
  REQUIRE_FALSE(root.has_value());
  CHECK(root.error().what == "the aliases of this file expand to too many values");
}

TEST_CASE("yaml: what nested anchors remember is counted") {
  std::string text = "- ";
  for (int i = 0; i < 45; ++i) text += "&a" + std::to_string(i) + " [";
  text += std::string(2 << 20, 'x') + std::string(45, ']') + "\n";
  const auto root = parse_yaml(text, "f.yaml");
  REQUIRE_FALSE(root.has_value());
  CHECK(root.error().what == "too many values for a file of this kind");
}

}  // namespace
}  // namespace shardlab

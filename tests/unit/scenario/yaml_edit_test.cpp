#include "engine/scenario/yaml_edit.h"

#include "tests/catch.h"

namespace shardlab {
namespace {

const std::string k_text =
    "# who knows why\n"
    "name: a  # the name\n"
    "cluster: { device: cpu, ranks: 2 }\n"
    "train:\n"
    "  micro_batch: 4   # small\n"
    "  data: [a.txt, 'b, c.txt']\n"
    "model:\n"
    "  config: tiny\n";

std::string set(const std::string& text, const char* key, const char* value) {
  const auto result = set_yaml_value(text, key, value);
  REQUIRE_OK(result);
  return *result;
}

std::string unset(const std::string& text, const char* key) {
  const auto result = unset_yaml_value(text, key);
  REQUIRE_OK(result);
  return *result;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  REQUIRE(text.find(what) != std::string::npos);
  return text.replace(text.find(what), what.size(), by);
}

}  // namespace

TEST_CASE("a value is replaced in place, with everything around it left") {
  CHECK(set(k_text, "train.micro_batch", "8") == replaced(k_text, "micro_batch: 4 ", "micro_batch: 8 "));
  CHECK(set(k_text, "cluster.ranks", "16") == replaced(k_text, "ranks: 2 ", "ranks: 16 "));
  CHECK(set(k_text, "train.data", "x.txt") == replaced(k_text, "[a.txt, 'b, c.txt']", "x.txt"));
  CHECK(set(k_text, "name", "'two words'") == replaced(k_text, "name: a", "name: 'two words'"));
}

TEST_CASE("a new key goes below its section") {
  CHECK(set(k_text, "train.seed", "3") == replaced(k_text, "'b, c.txt']\n", "'b, c.txt']\n  seed: 3\n"));
  CHECK(set(k_text, "cluster.threads_per_rank", "2") ==
        replaced(k_text, "ranks: 2 }", "ranks: 2, threads_per_rank: 2 }"));
  CHECK(set(k_text, "parallel.mesh.shard", "2") ==
        k_text.substr(0, k_text.size() - 1) + "\nparallel: {mesh: {shard: 2}}\n");
  CHECK(set("", "name", "x") == "name: x\n");
}

TEST_CASE("a removed key takes its line, or its place in a flow map, and an emptied section") {
  CHECK(unset(k_text, "train.micro_batch") == replaced(k_text, "  micro_batch: 4   # small\n", ""));
  CHECK(unset(k_text, "cluster.ranks") == replaced(k_text, ", ranks: 2 }", " }"));
  CHECK(unset(k_text, "cluster.device") == replaced(k_text, "device: cpu, ", ""));
  CHECK(unset(k_text, "model.config") == replaced(k_text, "model:\n  config: tiny\n", ""));
  CHECK(unset(k_text, "nothing.there") == k_text);
}

TEST_CASE("whatever is set reads back, in any layout") {
  const char* const layouts[] = {"a: {b: {c: 1}}\n",
                                 "a:\n  b:\n    c: 1\n",
                                 "a:\n  b: {c: 1}\n",
                                 "{a: {b: {c: 1}}}\n",
                                 "a:\n  b:\n    c: |\n      long\n      text\n",
                                 "a:\n  b:\n    c:\n    - 1\n    - 2\n",
                                 "a: &x {b: {c: 1}}\nz: *x\n",
                                 "a:\n  b:\n    c: \"q\\\"uote\"\n",
                                 "a:\n  b:\n    c:\n",
                                 "a: {b: {c: 1, d: [1, 2]}} # x"};
  for (const char* const layout : layouts) {
    INFO(layout);
    for (const char* const key : {"a.b.c", "a.b.new", "a.new", "new"}) {
      INFO(key);
      for (const char* const value : {"7", "[1, two]", "'it''s: quoted'"}) {
        const auto changed = set_yaml_value(layout, key, value);
        REQUIRE_OK(changed);
        const auto tree = parse_yaml(*changed, "text");
        const auto wanted = parse_yaml(value, "value");
        REQUIRE_OK(tree);
        REQUIRE_OK(wanted);
        const auto found = yaml_value_text(*tree, key);
        REQUIRE(found);
        CHECK(*found == (wanted->is_scalar() ? wanted->text : write_yaml_flow(*wanted)));
        const auto removed = unset_yaml_value(*changed, key);
        REQUIRE_OK(removed);
        const auto after = parse_yaml(*removed, "text");
        REQUIRE_OK(after);
        CHECK_FALSE(yaml_value_text(*after, key));
      }
    }
  }
}

TEST_CASE("texts and values that are no YAML are refused") {
  for (const char* key : {"tr\xe9in.steps", "train.ste\xdcps", "a\nb"}) {
    const auto set = set_yaml_value("train: {steps: 1}\n", key, "3");
    INFO(key);
    REQUIRE_FALSE(set);
    CHECK(set.error().kind == ErrorKind::bad_input);
  }
  CHECK_FALSE(set_yaml_value("a: [", "a", "1"));
  CHECK_FALSE(set_yaml_value("a: 1\n", "a", "[1"));
  CHECK_FALSE(set_yaml_value("a: 1\n", "a.b", "1"));  // a is no map
  CHECK_FALSE(unset_yaml_value("a: [", "a"));
}

}  // namespace shardlab

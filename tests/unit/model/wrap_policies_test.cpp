// Wrap policies: tables of units, what is refused, and how policies combine.
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "engine/base/paths.h"
#include "engine/model/families/family.h"
#include "engine/model/partition.h"
#include "engine/model/wrap/wrap_modules.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/unit/model/module_tree.h"

namespace shardlab::test {
namespace {

WrapSpec size_spec(std::int64_t least, SizeRule rule = SizeRule::remainder) {
  WrapSpec spec;
  spec.policy = WrapPolicyKind::size;
  spec.min_params = least;
  spec.rule = rule;
  return spec;
}

WrapSpec class_spec(std::string class_name) {
  WrapSpec spec;
  spec.policy = WrapPolicyKind::module;
  spec.classes = {std::move(class_name)};
  return spec;
}

WrapSpec pattern_spec(WrapMatch match) {
  WrapSpec spec;
  spec.policy = WrapPolicyKind::lambda;
  spec.match = {std::move(match)};
  return spec;
}

WrapSpec any_of(std::vector<WrapSpec> any) {
  WrapSpec spec;
  spec.policy = WrapPolicyKind::any_of;
  spec.any = std::move(any);
  return spec;
}

ModelGraph llama(const std::string& name, std::map<std::string, std::string> overrides = {}) {
  const auto path = find_asset("models/" + name + "/config.json");
  REQUIRE(path);
  const auto config = ModelConfig::read(*path, overrides);
  REQUIRE(config);
  auto graph = build_model_graph(*config, GraphOptions{});
  REQUIRE(graph);
  return *std::move(graph);
}

Partition units_of(const ModelGraph& graph, const WrapSpec& spec) {
  const auto wrapped = wrap_modules(graph, spec);
  if (!wrapped) FAIL(to_string(wrapped.error()));
  return make_partition(graph, wrapped->units, {});
}

// "root 60, block.A 120"
std::string units_text(const ModelGraph& graph, const WrapSpec& spec) {
  std::string text;
  for (const Unit& unit : units_of(graph, spec).units) {
    const std::string& path = graph.module(unit.modules.front()).path;
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", path.empty() ? "root" : path, unit.elements(graph));
  }
  return text;
}

std::string error_of(const ModelGraph& graph, const WrapSpec& spec) {
  const auto wrapped = wrap_modules(graph, spec);
  return wrapped ? "no error" : to_string(wrapped.error());
}

// Lines without comments and empty ones.
std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream stream(data_file(file));
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line[0] != '#') lines.push_back(line);
  }
  return lines;
}

}  // namespace

TEST_CASE("size policies on small trees") {
  const std::vector<std::string> rows = lines_of("wrap/trees.txt");
  REQUIRE(rows.size() >= 17);
  for (const std::string& row : rows) {
    INFO(row);
    const std::size_t first = row.find(" | "), second = row.rfind(" | ");
    const ModelGraph tree = ModuleTreeReader::read(row.substr(first + 3, second - first - 3));
    CHECK(units_text(tree, size_spec(100, parse_word<SizeRule>(row.substr(0, first)).value())) ==
          row.substr(second + 3));
  }
}

TEST_CASE("units of published models by size") {
  using Units = std::map<std::pair<std::string, std::int64_t>, int>;  // class and elements, how many
  std::map<std::string, Units> expected;
  std::string row;
  for (const std::string& line : lines_of("wrap/llama.txt")) {
    if (line[0] != ' ') {
      row = line;
      continue;
    }
    std::istringstream words(line);
    int count = 0;
    std::pair<std::string, std::int64_t> unit;
    words >> count >> unit.first >> unit.second;
    expected[row][unit] = count;
  }
  REQUIRE(expected.size() == 5);
  for (const auto& [name, units] : expected) {
    INFO(name);
    const std::size_t space = name.find(' ');
    const ModelGraph graph = llama(name.substr(0, space));
    Units found;
    for (const Unit& unit : units_of(graph, size_spec(std::stoll(name.substr(space)))).units) {
      ++found[{unit.class_name(graph), unit.elements(graph)}];
    }
    CHECK(found == units);
  }
}

TEST_CASE("an or of policies is asked module by module") {
  const ModelGraph tree = ModuleTreeReader::read("root( a( b:Block( x[120] y[70] ) z[50] ) )");
  // Alone, size would wrap x, and a with y and z. Beside a policy that wraps b, only z is left in a.
  CHECK(units_text(tree, any_of({size_spec(100), class_spec("Block")})) == "root 50, a.b 70, a.b.x 120");
  // A policy that always descends makes the size policy look into modules that it would not look into alone.
  const ModelGraph leaf = ModuleTreeReader::read("root( m:MultiheadAttention[50]( out[120] ) n:Block[1] )");
  CHECK(units_text(leaf, any_of({size_spec(100), class_spec("Block")})) == "root 50, m.out 120, n 1");
}

TEST_CASE("patterns select by path, class and size") {
  const ModelGraph graph = llama("tiny-llama");
  const auto count = [&](WrapMatch match) {
    return units_of(graph, pattern_spec(std::move(match))).units.size() - 1;
  };
  const auto layers = static_cast<std::size_t>(graph.layers);
  CHECK(count({"model.layers.*", "", {}, {}}) == layers);
  CHECK(count({"", "LlamaMLP", {}, {}}) == layers);
  CHECK(count({"model.layers.0.**", "Linear", {}, {}}) == 7);
  // Everything with parameters except containers and the root: per layer the block, attention, MLP, seven
  // linears, two norms.
  CHECK(count({"", "", {}, {}}) == layers * 12 + 4);
  const std::int64_t mlp = units_of(graph, class_spec("LlamaMLP")).units[1].elements(graph);
  CHECK(count({"", "", mlp, mlp}) == layers);
}

TEST_CASE("units are named in forward order, outer before inner") {
  const ModelGraph graph = llama("tiny-llama");
  const Partition partition = units_of(graph, pattern_spec({"", "", {}, {}}));
  CHECK(partition.units[1].path(graph) == "model");
  CHECK(partition.units[2].path(graph) == "model.embed_tokens");
  CHECK(partition.units[3].path(graph) == "model.layers.0");
  CHECK(partition.units[4].path(graph) ==
        "model.layers.0.input_layernorm");  // defined after the MLP, run first
  CHECK(partition.units[4].name == "u3");
}

TEST_CASE("modules that read parameters: owners, who share, and adapted layers that look at theirs") {
  const ModelGraph plain = llama("tiny-llama"), tied = llama("tiny-llama", {{"tie_word_embeddings", "true"}});
  const auto head = [](const ModelGraph& graph) {
    const std::vector<ModuleId> units = modules_that_read(graph, {}).units;
    return std::count_if(units.begin(), units.end(),
                         [&](ModuleId id) { return graph.module(id).path == "lm_head"; });
  };
  CHECK(modules_that_read(tied, {}).units == modules_that_read(plain, {}).units);
  CHECK(head(tied) == 1);
}

TEST_CASE("tied parameters stay in one unit or are refused") {
  const ModelGraph graph = llama("tiny-llama", {{"tie_word_embeddings", "true"}});
  CHECK(units_of(graph, WrapSpec{}).units.size() == static_cast<std::size_t>(graph.layers) + 1);
  CHECK(error_of(graph, class_spec("Embedding")) ==
        "parallel.wrap: splits the tied parameter 'model.embed_tokens.weight': 'model.embed_tokens' falls "
        "into the unit "
        "'model.embed_tokens', 'lm_head' into a unit around both. Tied parameters must be in one unit (leave "
        "'model.embed_tokens' "
        "unwrapped: policy transformer with its default classes does)");
  CHECK_THAT(error_of(graph, pattern_spec({"**", "", {}, {}})),
             contains_text("leave 'model.embed_tokens', 'model', 'lm_head' unwrapped"));
  CHECK_THAT(error_of(graph, class_spec("LlamaModel")), contains_text("leave 'model' unwrapped"));
  // Together they are below a threshold: nothing is split.
  CHECK(units_of(graph, size_spec(1'000'000'000)).units.size() == 1);
}

TEST_CASE("a tied parameter counts once in a module, and in each child") {
  GraphBuilder builder("tree", GraphOptions{});
  builder.add_input("tokens", {1}, DType::int64, TensorRole::tokens);
  const ModuleId root = builder.add_module(std::nullopt, "", "Module");
  const ModuleId block = builder.add_module(root, "block", "Module");
  const ModuleId a = builder.add_module(block, "a", "Module");
  const ParameterId weight = builder.add_parameter(a, "weight", {80}, InitialValue::zeros);
  const ModuleId b = builder.add_module(block, "b", "Module");
  builder.tie_parameter(b, weight);
  const ModelGraph tree = builder.finish(TensorId{0}, "Block", 1, 1);
  CHECK(units_text(tree, size_spec(81)) == "root 80");  // not 160
  CHECK(units_text(tree, size_spec(80, SizeRule::plain)) == "root 80");
  CHECK_THAT(error_of(tree, size_spec(80)), contains_text("'block.a' falls into the unit 'block.a'"));
}

TEST_CASE("what selects nothing is refused with the nearest choice") {
  const ModelGraph graph = llama("tiny-llama");
  CHECK(error_of(graph, class_spec("LlamaDecoderLayr")) ==
        "parallel.wrap.classes: no module of class 'LlamaDecoderLayr' in this model (did you mean "
        "'LlamaDecoderLayer'?)");
  CHECK(error_of(graph, class_spec("ModuleList")) ==
        "parallel.wrap.classes: a ModuleList has no forward: nothing would gather its parameters (name "
        "LlamaDecoderLayer)");
  CHECK(error_of(graph, pattern_spec({"model.layrs.0", "", {}, {}})) ==
        "parallel.wrap.match[0].path: no module's path matches 'model.layrs.0' (did you mean "
        "'model.layers.0'?)");
  CHECK_THAT(error_of(graph, pattern_spec({"*.mlp", "", {}, {}})), contains_text("did you mean '**.mlp'?"));
  CHECK_THAT(error_of(graph, pattern_spec({"model", "LlamaMLP", {}, {}})),
             contains_text("no module matches all of it"));
  CHECK(error_of(graph, any_of({size_spec(1), class_spec("X")})).rfind("parallel.wrap.any[1].classes: ", 0) ==
        0);
}

}  // namespace shardlab::test

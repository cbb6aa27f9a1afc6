#include "engine/model/wrap/leaf_modules.h"

#include "engine/model/wrap/wrap_modules.h"
#include "tests/catch.h"
#include "tests/unit/model/module_tree.h"

namespace shardlab::test {
namespace {

constexpr const char* k_experts =
    "root( embed[10] list:ModuleList( a:Layer( norm[2] mlp:MixtralSparseMoeBlock( gate[3] experts[9] ) ) "
    "b:Layer( norm[2] mlp:MLP( up[4] act ) ) ) )";

std::vector<std::string> paths_of(const ModelGraph& graph, const std::vector<ModuleId>& modules) {
  std::vector<std::string> paths;
  for (const ModuleId id : modules) paths.push_back(graph.module(id).path);
  return paths;
}

using Paths = std::vector<std::string>;

}  // namespace

TEST_CASE("leaves: blocks of experts where nothing is said, the outermost of what is named") {
  const ModelGraph graph = ModuleTreeReader::read(k_experts);
  LeafSpec spec;
  CHECK(paths_of(graph, leaf_modules(graph, spec)) == Paths{"list.a.mlp"});
  spec.classes = {"somewhere.Layer", "MLP"};
  CHECK(paths_of(graph, leaf_modules(graph, spec)) == Paths{"list.a", "list.b"});
  spec.classes = {};
  spec.name_suffixes = {"act", "b.mlp"};  // a module without parameters is none
  CHECK(paths_of(graph, leaf_modules(graph, spec)) == Paths{"list.b.mlp"});
  CHECK(leaf_modules(graph, LeafSpec{{}, {}, {}}).empty());
}

TEST_CASE("leaves: units with all that is below them") {
  const ModelGraph graph = ModuleTreeReader::read(k_experts);
  const auto units = modules_that_read(graph, leaf_modules(graph, LeafSpec()));
  CHECK(paths_of(graph, units.units) ==
        Paths{"", "embed", "list.a.norm", "list.a.mlp", "list.b.norm", "list.b.mlp.up"});
}

TEST_CASE("leaves: what no module has is told, but not of the classes that are leaves by themselves") {
  const ModelGraph graph = ModuleTreeReader::read(k_experts);
  CHECK(check_leaf_modules(graph, LeafSpec(), "here"));
  const Status unknown = check_leaf_modules(graph, LeafSpec{{"MPL"}, {}, {}}, "here");
  REQUIRE_FALSE(unknown);
  CHECK_THAT(to_string(unknown.error()), contains_text("no module has the class MPL (did you mean 'MLP'?)"));
  CHECK_FALSE(check_leaf_modules(graph, LeafSpec{{}, {"list.c"}, {}}, "here"));
  CHECK_FALSE(check_leaf_modules(graph, LeafSpec{{}, {}, {"c.mlp"}}, "here"));
}

}  // namespace shardlab::test

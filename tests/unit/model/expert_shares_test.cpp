// Predictions for a stated spread of tokens over experts: products of each expert's own size, and a structure
// that does not know of it.
#include "engine/model/families/family.h"
#include "engine/model/operators/operator_list.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab::test {
namespace {

// 5 experts of which a token takes 2; 48 assignments a layer.
ModelGraph mixtral(ExpertLoad load, const std::vector<std::vector<double>>& shares = {}) {
  const auto config = ModelConfig::read(data_file("families/mixtral.json"), {});
  REQUIRE_OK(config);
  GraphOptions options{2, 12};
  options.expert_load = load;
  options.expert_shares = shares;
  auto graph = build_model_graph(*config, options);
  REQUIRE_OK(graph);
  return *std::move(graph);
}

std::vector<OperatorDescription> products(const ModelGraph& graph) {
  std::vector<OperatorDescription> found;
  for (const Operator& op : graph.operators) {
    if (op.type == &k_grouped_linear) found.push_back(describe_operator(graph, op));
  }
  return found;
}

using Sizes = std::vector<std::pair<std::int64_t, int>>;  // rows of an expert, experts

Sizes sizes(const std::vector<Work>& works) {
  Sizes list;
  for (const Work& work : works) list.emplace_back(work.m, work.kernels);
  return list;
}

Flops all(const std::vector<Work>& works) {
  Flops sum;
  for (const Work& work : works) sum += work.flops;
  return sum;
}

}  // namespace

TEST_CASE("every expert's product is as large as its share") {
  const auto found = products(mixtral(ExpertLoad::stated, {{0.5, 0.25, 0.125, 0.125, 0}}));
  REQUIRE(found.size() == 4);
  CHECK(sizes(found[0].forward) == Sizes{{24, 1}, {12, 1}, {6, 2}});
  const auto even = products(mixtral(ExpertLoad::balanced));
  CHECK(sizes(even[0].forward) == Sizes{{10, 5}});
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(all(found[i].forward) == all(even[i].forward));
    CHECK(all(found[i].backward) == all(even[i].backward));
    CHECK(found[i].backward.size() == 6);  // of rows and of the weight, for three sizes
    CHECK(std::count_if(found[i].backward.begin(), found[i].backward.end(),
                        [](const Work& w) { return w.of_weight; }) == 3);
  }
}

TEST_CASE("rows that shares leave over go to the first experts") {
  const auto found = products(mixtral(ExpertLoad::stated, {{0.3, 0.3, 0.2, 0.1, 0.1}}));
  std::int64_t rows = 0;
  for (const auto& [each, experts] : sizes(found[0].forward)) rows += each * experts;
  CHECK(rows == 48);  // of 14.4, 14.4, 9.6, 4.8 and 4.8
  CHECK(sizes(found[0].forward) == Sizes{{15, 2}, {10, 1}, {4, 2}});
}

TEST_CASE("a list a layer") {
  const auto found = products(mixtral(ExpertLoad::stated, {{0.5, 0.5, 0, 0, 0}, {0.2, 0.2, 0.2, 0.2, 0.2}}));
  CHECK(sizes(found[0].forward) == Sizes{{24, 2}});
  CHECK(sizes(found[1].forward) == Sizes{{24, 2}});
  CHECK(sizes(found[2].forward) == Sizes{{10, 3}, {9, 2}});
}

TEST_CASE("what is assumed of the load is no part of the structure") {
  CHECK(structure_hash(mixtral(ExpertLoad::stated, {{0.5, 0.5, 0, 0, 0}})) ==
        structure_hash(mixtral(ExpertLoad::worst)));
}

}  // namespace shardlab::test

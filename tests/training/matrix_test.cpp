// Settings in combination: a seeded pairwise cover (every value of one dimension with every value of each other), trained with ranks
// as threads, equals one process with the same global batch. Combinations that are refused must be refused by name.
#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/scenario/read_scenario.h"
#include "engine/strategies/plan_scenario.h"
#include "tests/catch.h"
#include "tests/training/local_run.h"
#include "tests/training/small_model.h"

namespace shardlab::test {
namespace {

constexpr int k_sequences = 12;  // of a step
constexpr int k_steps = 3;

// Each value is a list of overrides, separated by blanks.
using Dimension = std::vector<std::string>;

const std::vector<Dimension>& dimensions() {
  static const std::vector<Dimension> all = {
      {"parallel.strategy=ddp", "parallel.strategy=fsdp1", "parallel.strategy=fsdp1 parallel.sharding=shard_grad_op",
       "parallel.strategy=fsdp1 parallel.sharding=no_shard", "parallel.strategy=fsdp1 parallel.sharding=hybrid_shard parallel.mesh.replicate=2",
       "parallel.strategy=fsdp2", "parallel.strategy=fsdp2 parallel.reshard_after_forward=false",
       "parallel.strategy=fsdp2 parallel.reshard_after_forward=2", "parallel.strategy=fsdp2 parallel.mesh.replicate=2"},
      {"cluster.ranks=2", "cluster.ranks=4"},
      {"train.accumulation=1", "train.accumulation=3", "train.accumulation=3 train.sync=every"},
      {"", "precision.param=bfloat16 precision.reduce=float32", "precision.param=bfloat16 precision.reduce=bfloat16"},
      {"", "parallel.prefetch.forward=true", "parallel.prefetch.backward=none", "parallel.prefetch.forward_depth=2 parallel.prefetch.backward_depth=2"},
      {"", "parallel.wrap.policy=none", "parallel.wrap.policy=size parallel.wrap.min_params=20000"},
      {"", "model.overrides.tie_word_embeddings=true"},
      {"train.optimizer=sgd train.learning_rate=0.1 train.weight_decay=0", "train.optimizer=sgd train.learning_rate=0.1 train.momentum=0.9 train.clip_norm=1"},
  };
  return all;
}

using Choice = std::vector<std::size_t>;  // by dimension

std::vector<std::string> overrides_of(const Choice& choice) {
  std::vector<std::string> overrides;
  for (std::size_t d = 0; d < choice.size(); ++d) {
    std::istringstream words(dimensions()[d][choice[d]]);
    for (std::string word; words >> word;) overrides.push_back(word);
  }
  return overrides;
}

using Pair = std::array<std::size_t, 4>;  // dimension, value, dimension, value

std::set<Pair> pairs_of(const Choice& choice) {
  std::set<Pair> pairs;
  for (std::size_t a = 0; a < choice.size(); ++a) {
    for (std::size_t b = a + 1; b < choice.size(); ++b) pairs.insert({a, choice[a], b, choice[b]});
  }
  return pairs;
}

Result<PlannedScenario> planned(const std::vector<std::string>& overrides, int ranks, int accumulation) {
  std::vector<std::string> all = overrides;
  all.push_back("train.micro_batch=" + std::to_string(k_sequences / ranks / accumulation));
  SHARDLAB_TRY(const Scenario scenario, parse_scenario(k_small_model, std::string(SHARDLAB_TEST_SOURCE) + "/small.yaml", all));
  return plan_scenario(scenario);
}

Result<PlannedScenario> planned(const Choice& choice) {
  const int ranks = choice[1] == 0 ? 2 : 4;
  return planned(overrides_of(choice), ranks, choice[2] == 0 ? 1 : 3);
}

// Draws until every pair that can be had is covered: each time the best of a few random choices that are not refused.
std::vector<Choice> pairwise_cover() {
  std::mt19937 generator(4);
  std::set<Pair> covered;
  std::vector<Choice> cover;
  for (int misses = 0; misses < 40;) {
    Choice best;
    std::size_t most = 0;
    for (int candidate = 0; candidate < 30; ++candidate) {
      Choice choice;
      for (const Dimension& dimension : dimensions()) choice.push_back(generator() % dimension.size());
      std::size_t news = 0;
      for (const Pair& pair : pairs_of(choice)) news += covered.count(pair) == 0 ? 1 : 0;
      if (news > most && planned(choice)) {
        best = choice;
        most = news;
      }
    }
    if (best.empty()) {
      ++misses;
      continue;
    }
    covered.merge(pairs_of(best));
    cover.push_back(best);
  }
  return cover;
}

}  // namespace

// A single process, and how far its gradients move when the same sums are made in another order.
struct Reference {
  Trained whole;
  double order = 0;
};

TEST_CASE("a pairwise cover of settings trains like one process") {
  std::map<std::string, Reference> references;  // by what changes the mathematics
  const auto reference = [&](const Choice& choice) -> const Reference& {
    const std::string changes = dimensions()[6][choice[6]] + " " + dimensions()[7][choice[7]];
    const auto known = references.find(changes);
    if (known != references.end()) return known->second;
    std::vector<std::string> overrides;
    std::istringstream words(changes);
    for (std::string word; words >> word;) overrides.push_back(word);
    Result<Trained> trained = train(*planned(overrides, 1, 1), k_steps);
    REQUIRE_OK(trained);
    Reference made{*std::move(trained), 0};
    for (const int pieces : {2, 4, 12}) {
      const Result<Trained> reordered = train(*planned(joined(overrides, {"train.accumulation=" + std::to_string(pieces)}), 1, pieces), 1);
      REQUIRE_OK(reordered);
      made.order = std::max(made.order, worst_difference(reordered->gradients, made.whole.gradients).difference);
    }
    REQUIRE(made.order < 1e-5);
    return references.emplace(changes, std::move(made)).first->second;
  };
  const std::vector<Choice> cover = pairwise_cover();
  double worst_gradient = 0, worst_loss = 0;
  for (const Choice& choice : cover) {
    const std::string name = fmt::format("{}", fmt::join(overrides_of(choice), " "));
    INFO(name);
    const Reference& one = reference(choice);
    const Trained& whole = one.whole;
    const Result<Trained> sharded = train(*planned(choice), k_steps);
    REQUIRE_OK(sharded);
    CHECK(bitwise_equal(sharded->initial, whole.initial));
    const bool exact = dimensions()[3][choice[3]].empty();
    for (std::size_t step = 0; step < k_steps; ++step) {
      const double difference = std::abs(sharded->losses[step] / whole.losses[step] - 1);
      CHECK(difference <= (exact ? 1e-6 : 2e-2));
      if (exact) worst_loss = std::max(worst_loss, difference);
    }
    if (!exact) continue;
    const WorstTensor gradients = worst_difference(sharded->gradients, whole.gradients);
    INFO("reordering alone moves them by " << one.order);
    CHECK(gradients.difference <= std::max(1e-6, 3 * one.order));
    worst_gradient = std::max(worst_gradient, gradients.difference);
  }
  fmt::print("{} combinations: float32 gradients within {:.1e} of the largest element, losses within {:.1e}\n", cover.size(), worst_gradient, worst_loss);
  CHECK(cover.size() > 30);
}

TEST_CASE("combinations that contradict each other are refused by name") {
  int refused = 0;
  for (const std::string& strategy : dimensions()[0]) {
    for (std::size_t d = 1; d < dimensions().size(); ++d) {
      for (const std::string& value : dimensions()[d]) {
        std::vector<std::string> overrides{"cluster.ranks=4"};
        std::istringstream words(strategy + " " + value);
        for (std::string word; words >> word;) overrides.push_back(word);
        const Result<PlannedScenario> plan = planned(overrides, 4, 1);
        if (plan) continue;
        ++refused;
        const std::string message = to_string(plan.error());
        INFO(strategy + " " + value + " -> " + message);
        CHECK(plan.error().kind == ErrorKind::bad_input);
        CHECK((message.find("parallel.") != std::string::npos || message.find("precision.") != std::string::npos));
      }
    }
  }
  CHECK(refused > 10);
}

}  // namespace shardlab::test

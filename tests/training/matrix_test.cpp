// Settings in combination: a seeded pairwise cover (every value of one dimension with every value of each
// other), trained with ranks as threads, equals one process with the same global batch. Combinations that are
// refused must be refused by name. The full matrix takes half an hour: `ctest -L nightly`.
#include "tests/training/matrix.h"

#include <array>
#include <random>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "tests/catch.h"

namespace shardlab::test {
namespace {

using Pair = std::array<std::size_t, 4>;  // dimension, value, dimension, value

std::set<Pair> pairs_of(const Choice& choice) {
  std::set<Pair> pairs;
  for (std::size_t a = 0; a < choice.size(); ++a) {
    for (std::size_t b = a + 1; b < choice.size(); ++b) pairs.insert({a, choice[a], b, choice[b]});
  }
  return pairs;
}

// Draws until every pair that can be had is covered: each time the best of a few random choices that are not
// refused.
std::vector<Choice> pairwise_cover() {
  std::mt19937 generator(4);
  std::set<Pair> covered;
  std::vector<Choice> cover;
  for (int misses = 0; misses < 40;) {
    Choice best;
    std::size_t most = 0;
    for (int candidate = 0; candidate < 30; ++candidate) {
      Choice choice;
      for (const Dimension& dimension : dimensions()) choice.push_back(generator() % dimension.values.size());
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

// The product of what each dimension has in it, in order.
std::vector<Choice> full_matrix() {
  std::vector<Choice> choices{{}};
  for (const Dimension& dimension : dimensions()) {
    std::vector<Choice> longer;
    for (const Choice& choice : choices) {
      for (std::size_t value = 0; value < dimension.in_full_matrix; ++value) {
        longer.push_back(choice);
        longer.back().push_back(value);
      }
    }
    choices = std::move(longer);
  }
  return choices;
}

bool names_a_key(const std::string& message) {
  for (const char* section : {"parallel.", "precision.", "activation.", "model.", "train.sync"}) {
    if (message.find(section) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a pairwise cover of settings trains like one process") {
  const std::vector<Choice> cover = pairwise_cover();
  MatrixRun run;
  for (const Choice& choice : cover) run.check(choice);
  fmt::print(
      "{} combinations: float32 gradients within {:.1e} of the largest element, losses within {:.1e}\n",
      cover.size(), run.worst().gradient, run.worst().loss);
  CHECK(cover.size() > 30);
}

TEST_CASE("combinations that contradict each other are refused by name") {
  int refused = 0;
  for (const std::string& strategy : dimensions()[0].values) {
    for (std::size_t d = 1; d < dimensions().size(); ++d) {
      for (const std::string& value : dimensions()[d].values) {
        std::vector<std::string> overrides{"cluster.ranks=4"};
        std::istringstream words(strategy + " " + value);
        for (std::string word; words >> word;) overrides.push_back(word);
        const Result<PlannedScenario> plan = planned(overrides, 4, 1);
        if (plan) continue;
        ++refused;
        const std::string message = to_string(plan.error());
        INFO(strategy + " " + value + " -> " + message);
        CHECK(plan.error().kind == ErrorKind::bad_input);
        CHECK(names_a_key(message));
      }
    }
  }
  CHECK(refused > 10);
}

TEST_CASE("every combination of settings trains like one process", "[.nightly]") {
  MatrixRun run;
  int trained = 0, refused = 0;
  for (const Choice& choice : full_matrix()) {
    const Result<PlannedScenario> plan = planned(choice);
    if (!plan) {
      INFO(name_of(choice) + " -> " + to_string(plan.error()));
      CHECK(plan.error().kind == ErrorKind::bad_input);
      CHECK(names_a_key(to_string(plan.error())));
      ++refused;
      continue;
    }
    run.check(choice);
    if (++trained % 100 == 0)
      fmt::print("{} trained, {} refused by name\n", trained, refused), std::fflush(stdout);
  }
  fmt::print(
      "{} combinations trained, {} refused by name: float32 gradients within {:.1e} of the largest element, "
      "losses within {:.1e}\n",
      trained, refused, run.worst().gradient, run.worst().loss);
}

}  // namespace shardlab::test

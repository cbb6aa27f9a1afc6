#include "engine/scenario/strategy_facts.h"

#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/scenario.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

using Names = std::vector<std::string>;

TEST_CASE("strategy facts: every key that a strategy names is one of the reference") {
  const std::string reference = scenario_reference();
  int keys = 0;
  for (const KnownStrategy& strategy : known_strategies()) {
    for (const std::string_view key : strategy.facts->keys) {
      INFO(strategy.name << ": " << key);
      const bool is_key = reference.find("| `" + std::string(key) + "` |") != std::string::npos;
      const bool is_section = reference.find("| `" + std::string(key) + ".") != std::string::npos;
      CHECK((is_key || is_section));
      ++keys;
    }
  }
  CHECK(keys > 20);
}

TEST_CASE("strategy facts: a section stands for its keys, a key makes its section known") {
  const std::string_view keys[] = {"parallel.wrap", "parallel.prefetch.forward_depth"};
  const StrategyFacts facts{.keys = keys};
  CHECK(accepts(facts, "parallel.wrap"));
  CHECK(accepts(facts, "parallel.wrap.policy"));
  CHECK(accepts(facts, "parallel.prefetch"));
  CHECK(accepts(facts, "parallel.prefetch.forward_depth"));
  CHECK_FALSE(accepts(facts, "parallel.prefetch.forward"));
  CHECK_FALSE(accepts(facts, "parallel.wrapped"));
  CHECK_FALSE(accepts(StrategyFacts{}, "parallel.wrap"));
}

TEST_CASE("strategy facts: names come in the order of the list") {
  CHECK(strategies_that_accept("parallel.prefetch.forward_depth") == Names{"fsdp2", "native"});
  CHECK(strategies_that_accept("parallel.sharding") == Names{"fsdp1"});
  CHECK(proposed_for("precision.cast_forward_inputs") == "fsdp1 or fsdp2");
  CHECK(of_strategies("precision.buffer", "text") == "fsdp1: text");
  CHECK(built_strategies() ==
        Names{"none", "ddp", "fsdp1", "fsdp2", "zero0", "zero1", "zero2", "zero3", "native"});
  CHECK(teacher_strategies() == Names{"none", "fsdp1", "fsdp2", "native"});
}

TEST_CASE("strategy facts: an unknown name shards, as most strategies do") {
  CHECK(facts_of("unheard").keys.empty());
  ParallelSpec parallel;
  parallel.strategy = "unheard";
  CHECK_FALSE(replicates_state(parallel));
  parallel.strategy = "fsdp1";
  CHECK_FALSE(replicates_state(parallel));
  parallel.sharding = Fsdp1Sharding::no_shard;
  CHECK(replicates_state(parallel));
}

}  // namespace
}  // namespace shardlab

// What the communicators of a real run send is what the plan says, and the plan moves what the strategy must:
// every unit's padded elements as often as it is gathered, and its gradients as often as they are reduced.
#include <fmt/format.h>

#include <map>
#include <mutex>

#include "engine/plan/unit_sizes.h"
#include "engine/report/communication_volume.h"
#include "engine/scenario/mesh.h"
#include "tests/catch.h"
#include "tests/training/local_run.h"
#include "tests/training/small_model.h"

namespace shardlab::test {
namespace {

using Key = std::pair<InstructionKind, int>;  // kind, size of group

struct Total {
  std::int64_t operations = 0;  // of one rank
  Bytes bytes;                  // sent by all ranks
  friend bool operator==(const Total&, const Total&) = default;
};
using Totals = std::map<Key, Total>;

Totals planned_totals(const StepPlan& plan) {
  Totals totals;
  for (const Instruction& instruction : plan.instructions) {
    if (!is_collective(instruction.kind)) continue;
    const int size = plan.groups[instruction.group->index()].size;
    if (size == 1) continue;
    Total& total = totals[{instruction.kind, size}];
    ++total.operations;
    total.bytes += sent_bytes(plan, instruction);
  }
  return totals;
}

// By step.
std::vector<Totals> counted_totals(const PlannedScenario& planned, int steps) {
  std::vector<Totals> totals(static_cast<std::size_t>(steps));
  std::mutex mutex;
  REQUIRE_OK(run_ranks(planned, [&](RankExecutor& executor, int rank) -> Status {
    for (Totals& of_step : totals) {
      SHARDLAB_TRY(const RankTrace trace, executor.step());
      const std::lock_guard lock(mutex);
      for (const SentInStep& sent : trace.sent) {
        Total& total = of_step[{sent.kind, sent.group_size}];
        total.bytes += sent.bytes;
        if (rank == 0) total.operations += sent.operations;
      }
    }
    return {};
  }));
  return totals;
}

std::string shown(const Totals& totals) {
  std::string text;
  for (const auto& [key, total] : totals)
    text += fmt::format("{} of {}: {} x {} B; ", to_string(key.first), key.second, total.operations,
                        total.bytes.value);
  return text;
}

}  // namespace

TEST_CASE("communicators count what the plan says, step by step") {
  constexpr int steps = 3;
  for (const Spread& spread : all_spreads()) {
    const PlannedScenario planned =
        planned_text(k_small_model, joined({"train.clip_norm=1.0"}, spread.overrides()));
    const std::vector<Totals> counted = counted_totals(planned, steps);
    for (int step = 0; step < steps; ++step) {
      INFO(spread.name() << ", step " << step << "\ncounted "
                         << shown(counted[static_cast<std::size_t>(step)]) << "\nplanned "
                         << shown(planned_totals(planned.plan.step(step))));
      CHECK((counted[static_cast<std::size_t>(step)] ==
             planned_totals(planned.plan.step(step))));  // shown above
    }
  }
}

namespace {

// How often a unit's parameters are gathered and its gradients reduced in a step of one micro-batch.
struct Times {
  int root_gathers, gathers;
  bool all_reduced;  // else reduce-scattered
};

Times times_of(const Spread& spread) {
  if (spread.strategy == "fsdp1") {
    if (spread.setting == "no_shard") return {0, 0, true};
    const bool reshards = spread.setting == "full_shard" || spread.setting == "hybrid_shard";
    return {1, reshards ? 2 : 1, false};
  }
  // `true` of the scenario holds for units; the root stays as fully_shard leaves it.
  if (spread.strategy == "fsdp2") return {1, spread.setting == "false" ? 1 : 2, false};
  return {0, 0, true};
}

// Elements that all ranks send, from the units' padded sizes alone.
std::int64_t elements_by_units(const PlannedScenario& planned, const Spread& spread) {
  const Times times = times_of(spread);
  const int replicas = times.all_reduced ? 1 : resolve_mesh(planned.scenario).replicate;
  const std::int64_t shards = spread.ranks / replicas;
  std::int64_t elements = 0;
  for (std::size_t i = 0; i < planned.plan.steady.units.size(); ++i) {
    const std::int64_t padded = planned.plan.steady.units[i].padded_elements;
    if (times.all_reduced) {
      elements += padded * 2 * (spread.ranks - 1);
      continue;
    }
    elements += padded * ((i == 0 ? times.root_gathers : times.gathers) + 1) * (shards - 1) * replicas;
    elements += padded / shards * 2 * (replicas - 1) * shards;  // all-reduce of every shard over the replicas
  }
  return elements;
}

}  // namespace

TEST_CASE("a step moves the exact sum over units, and the table of strategies is its limit") {
  for (const Spread& spread :
       {Spread{"ddp", 2, 1, ""}, Spread{"ddp", 4, 1, ""}, Spread{"fsdp1", 4, 1, "no_shard"},
        Spread{"fsdp1", 2, 1, "full_shard"}, Spread{"fsdp1", 4, 1, "full_shard"},
        Spread{"fsdp1", 4, 1, "shard_grad_op"}, Spread{"fsdp1", 4, 1, "hybrid_shard"},
        Spread{"fsdp1", 4, 1, "hybrid_shard_zero2"}, Spread{"fsdp2", 2, 1, "true"},
        Spread{"fsdp2", 4, 1, "true"}, Spread{"fsdp2", 4, 1, "false"},
        Spread{"fsdp2", 4, 1, "true", "last", {"parallel.mesh.replicate=2"}}}) {
    INFO(spread.name());
    const PlannedScenario planned = planned_text(k_small_model, spread.overrides());
    const auto volume = communication_volume(planned);
    REQUIRE(volume);
    REQUIRE(volume->limit);
    const auto model = static_cast<double>(total_parameters(planned.graph));
    const double by_units = static_cast<double>(elements_by_units(planned, spread)) / model / spread.ranks;
    fmt::print("{:<32} a rank sends {:.3f} times the model's elements; the units' sum {:.3f}; limit {:.2f}\n",
               spread.name(), volume->sent, by_units, *volume->limit);
    CHECK(volume->sent == Approx(by_units).epsilon(1e-12));
    CHECK(volume->sent < *volume->limit);
  }
}

// With many ranks (and replicas, where there are any) and many small layers neither the own part, nor
// padding, nor the root matters much.
TEST_CASE("with many ranks the volume is the table's") {
  const std::vector<std::string> many{"cluster.ranks=64", "model.overrides.num_hidden_layers=40",
                                      "model.overrides.vocab_size=256", "model.overrides.hidden_size=192",
                                      "model.overrides.intermediate_size=512"};
  const std::vector<std::pair<Spread, double>> table{
      {{"ddp", 64, 1, ""}, 2},
      {{"fsdp1", 64, 1, "no_shard"}, 2},
      {{"fsdp1", 64, 1, "shard_grad_op"}, 2},
      {{"fsdp1", 64, 1, "full_shard"}, 3},
      {{"fsdp1",
        1024,
        1,
        "hybrid_shard",
        "last",
        {"parallel.mesh={replicate: 32, shard: 32}", "cluster.ranks=1024"}},
       3 + 2.0 / 32},
      {{"native", 64, 1, "false"}, 2},
      {{"native", 64, 1, "true"}, 3},
      {{"fsdp2", 64, 1, "false"}, 2},
      {{"fsdp2", 64, 1, "true"}, 3}};
  for (const auto& [spread, limit] : table) {
    INFO(spread.name());
    const PlannedScenario planned = planned_text(k_small_model, joined(many, spread.overrides_with(1)));
    const auto volume = communication_volume(planned);
    REQUIRE(volume);
    CHECK(volume->limit == limit);
    CHECK(volume->sent == Approx(limit).epsilon(0.04));
  }
}

}  // namespace shardlab::test

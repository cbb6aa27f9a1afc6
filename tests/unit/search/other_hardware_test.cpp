// What more memory and faster wires buy is what is predicted of the scenario with those settings, and the
// best with more memory is what a search of that scenario finds.
#include "simulator/search/other_hardware.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/scenario/read_scenario.h"
#include "simulator/search/full_prediction.h"
#include "tests/unit/search/small_question.h"

namespace shardlab {
namespace {

struct Asked {
  SearchQuestion question;  // candidates point into it
  SearchResult result;
  std::vector<OtherHardware> rows;

  const Candidate& best() const { return *leader_for(result.answers, question.objective)->best; }
};

Asked ask(const SearchQuestion& question, int threads = 1, bool exhaustive = false) {
  Asked asked{question, {}, {}};
  const auto space = SearchSpace::of(asked.question);
  REQUIRE_OK(space);
  ResultFile kept;
  Evaluator evaluator(asked.question.base, {}, kept);
  SearchOptions options;
  options.threads = threads;
  options.exhaustive = exhaustive;
  auto found = search(*space, evaluator, options);
  REQUIRE_OK(found);
  asked.result = *std::move(found);
  const Leader* const leader = leader_for(asked.result.answers, asked.question.objective);
  REQUIRE(leader != nullptr);
  auto rows = on_other_hardware(*space, evaluator, asked.result, *leader, threads);
  REQUIRE_OK(rows);
  asked.rows = *std::move(rows);
  return asked;
}

std::string words_of(const Asked& asked) {
  std::string text;
  for (const OtherHardware& row : asked.rows) {
    text += fmt::format("{} {} {} {} {} untried {}", row.what, row.own.from, row.own.to,
                        row.own.candidate->figures.step_time.value, row.own.candidate->figures.memory().value,
                        row.untried);
    if (row.best_then)
      text += fmt::format(" then {} {:.17g}", row.best_then->configuration.index, row.best_then->costs.time);
    text += "\n";
  }
  return text;
}

// As `shardlab simulate` has them of the scenario with these settings.
PredictedFigures predicted(const SearchQuestion& question, const std::vector<std::string>& settings) {
  std::vector<std::string> overrides = question.base.overrides;
  overrides.insert(overrides.end(), settings.begin(), settings.end());
  const auto scenario = parse_scenario(question.base.text, question.base.file, overrides);
  REQUIRE_OK(scenario);
  const auto full = predict_fully(*scenario, {});
  REQUIRE_OK(full);
  return full->figures;
}

constexpr const char* k_on_processors =
    "model: {{config: gpt2, sequence_length: 256, overrides: {{n_layer: 2, n_embd: 256, n_head: 4, "
    "vocab_size: 512}}}}\n"
    "cluster: {{device: cpu, ranks: 2, memory_limit: {}B}}\nparallel: {{strategy: fsdp2}}\n"
    "train: {{micro_batch: 1, accumulation: 16}}\n";
constexpr const char* k_vary =
    "keep: {global_batch: 32}\n"
    "vary: {train.micro_batch: [1, 2, 4, 8, 16], parallel.strategy: [fsdp2, ddp], activation.checkpoint: "
    "[none, full]}\n";

// One layer as wide as a large model's: what of it fits is decided by the strategy.
std::string wide(std::int64_t limit, const std::string& suppose) {
  return fmt::format(
      "model: {{config: gpt2, sequence_length: 64, overrides: {{n_layer: 1, n_embd: 4096, n_head: 32, "
      "vocab_size: 50257}}}}\n"
      "cluster: {{node: hgx-h100, nodes: 1, memory_limit: {}B, suppose: {{{}}}}}\n"
      "parallel: {{strategy: fsdp2}}\ntrain: {{micro_batch: 2, accumulation: 2}}\n",
      limit, suppose);
}
constexpr const char* k_rent_wide =
    "keep: {global_batch: 64}\nobjective: money\ntrain: {tokens: 10M}\noffers:\n"
    "- {node: hgx-h100, nodes: [1, 2], price: 5, date: '2026-01-01', source: a test}\n"
    "vary: {train.micro_batch: [1, 4, 8], parallel: [{strategy: ddp}, {strategy: fsdp2}, {strategy: fsdp2,\n"
    "  reshard_after_forward: false}], train.sync: [last, every]}\n";

constexpr std::int64_t k_mebibyte = 1 << 20;

}  // namespace

TEST_CASE("the best with more memory is what a search with that memory finds, simulated before or not") {
  int others = 0, bounded = 0;
  for (const std::int64_t mebibytes : {100, 120, 148, 180, 220}) {
    INFO(mebibytes << " MiB");
    const std::int64_t limit = mebibytes * k_mebibyte;
    const test::SearchFolder folder(fmt::format(k_on_processors, limit)),
        roomier(fmt::format(k_on_processors, limit * 5 / 4));
    const auto question = folder.question(k_vary), with_more = roomier.question(k_vary);
    REQUIRE_OK(question);
    REQUIRE_OK(with_more);
    const Asked asked = ask(*question), more = ask(*with_more);
    REQUIRE(asked.rows.size() == 1);  // ranks on processors have no wires of their own
    const OtherHardware& row = asked.rows.front();
    CHECK(row.own.key == "cluster.memory_limit");
    CHECK(row.own.candidate->figures.step_time == asked.best().figures.step_time);
    CHECK(row.untried == 0);
    const Candidate& then = row.best_then ? *row.best_then : *row.own.candidate;
    CHECK(then.configuration.index == more.best().configuration.index);
    CHECK(then.costs.time == more.best().costs.time);
    CHECK(then.figures.limit == Bytes{limit * 5 / 4});
    others += row.best_then.has_value();
    for (const BoundedAway& each : asked.result.short_of_memory)
      bounded += row.best_then && each.index == row.best_then->configuration.index;
    for (const int threads : {2, 7}) CHECK(words_of(ask(*question, threads)) == words_of(asked));
    CHECK(words_of(ask(*question, 2, true)) == words_of(asked));
  }
  CHECK(others >= 2);
  CHECK(bounded >= 1);
}

TEST_CASE("what other hardware changes is what the scenario that supposes it is predicted to do") {
  bool another = false;
  for (const std::int64_t mebibytes : {10'000, 14'000}) {
    INFO(mebibytes << " MiB");
    const std::int64_t limit = mebibytes * k_mebibyte;
    const test::SearchFolder folder(wide(limit, "memory: 1")), roomier(wide(limit * 5 / 4, "memory: 1.25"));
    const auto question = folder.question(k_rent_wide), with_more = roomier.question(k_rent_wide);
    REQUIRE_OK(question);
    REQUIRE_OK(with_more);
    const Asked asked = ask(*question);
    REQUIRE(asked.rows.size() == (asked.best().configuration.nodes > 1 ? 3 : 2));
    for (const OtherHardware& row : asked.rows) {
      INFO(row.what);
      std::vector<const Candidate*> all = {&*row.own.candidate};
      if (row.best_then) all.push_back(&*row.best_then);
      for (const Candidate* const each : all) {
        CHECK(predicted(asked.question, each->configuration.settings) == each->figures);
        CHECK(each->configuration.offer == asked.best().configuration.offer);  // at its price
      }
      if (!row.asked_who_is_best) CHECK(row.own.candidate->costs.time < asked.best().costs.time);
    }
    const OtherHardware& memory = asked.rows.front();
    const Candidate& then = memory.best_then ? *memory.best_then : *memory.own.candidate;
    const Asked more = ask(*with_more);
    CHECK(then.configuration.index == more.best().configuration.index);
    CHECK(then.costs.money == more.best().costs.money);
    another = another || memory.best_then;
  }
  CHECK(another);
}

TEST_CASE("what a scenario supposes already is multiplied") {
  const test::SearchFolder folder(wide(10'000 * k_mebibyte, "memory: 2, intra_node: 3"));
  const auto question = folder.question("vary: {train.micro_batch: [1, 2]}");
  REQUIRE_OK(question);
  const Asked asked = ask(*question);
  REQUIRE(asked.rows.size() == 2);
  const auto has = [](const OtherHardware& row, const std::string& setting) {
    const std::vector<std::string>& settings = row.own.candidate->configuration.settings;
    return std::find(settings.begin(), settings.end(), setting) != settings.end();
  };
  CHECK(has(asked.rows[0], "cluster.suppose.memory=2.5"));
  CHECK(has(asked.rows[0], "cluster.memory_limit=13107200000B"));
  CHECK(has(asked.rows[1], "cluster.suppose.intra_node=6"));
}

}  // namespace shardlab

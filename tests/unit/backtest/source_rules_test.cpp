#include "simulator/backtest/source_rules.h"

#include <fstream>
#include <iterator>

#include "engine/base/paths.h"
#include "simulator/backtest/scenario_of_row.h"
#include "tests/unit/backtest/small_table.h"

namespace shardlab {
namespace {

using test::contains_text;
using test::table_of;

std::vector<SourceRule> rules_of(const std::string& yaml) {
  auto rules = parse_rules(yaml, "r.yaml");
  REQUIRE_OK(rules);
  return *std::move(rules);
}

std::string error_of(const std::string& yaml) {
  const auto rules = parse_rules(yaml, "r.yaml");
  REQUIRE_FALSE(rules);
  CHECK(rules.error().kind == ErrorKind::bad_input);
  return message_text(rules.error());
}

const std::string k_why = ", because: x, source: y}\n";

RowScenario expressed(const std::string& rules, const std::string& row,
                      BacktestMetric metric = BacktestMetric::memory) {
  const PublishedTable table = table_of(row);
  return scenario_of_row(table.runs.front(), rules_of(rules), metric);
}

const std::string k_row = "r1,org/repo (history),torchtitan,A100,16,FSDP2,8,2,llama3,4,,,,,,,,\n";

}  // namespace

TEST_CASE("rules: patterns of cells") {
  const PublishedTable table = table_of(k_row);
  const auto agrees = [&](const std::string& condition) {
    return matches(rules_of("- {rule: a, kind: k, " + condition + k_why).front(), table.runs.front(),
                   BacktestMetric::memory);
  };
  CHECK(agrees("when: {gpu: A100}"));
  CHECK_FALSE(agrees("when: {gpu: A10}"));
  CHECK(agrees("when: {gpu: [H100, \"A1*\"]}"));
  CHECK(agrees("when: {source_repo_or_paper: \"*repo*\", family: llama3}"));
  CHECK_FALSE(agrees("when: {source_repo_or_paper: \"*repo*\", family: mpt}"));
  CHECK(agrees("when: {source_repo_or_paper: \"o?g/*(h*)\"}"));
  CHECK_FALSE(agrees("when: {source_repo_or_paper: \"o?g/*(h*\\\\)\"}"));
  CHECK(agrees("when: {source_repo_or_paper: \"*o*r*o*r*y*\"}"));
  CHECK_FALSE(agrees("when: {source_repo_or_paper: \"*o*r*o*r*y*z\"}"));
  CHECK(agrees("when: {gpu: \"*\", tp: \"*\"}"));
  CHECK(agrees("when: {tp: \"\"}"));
  CHECK_FALSE(agrees("when: {tp: \"?*\"}"));
  CHECK(agrees("when: {nodes: \"2\"}"));
  CHECK_FALSE(agrees("unless: {gpu: A100}"));
  CHECK(agrees("unless: {gpu: H100, family: mpt}"));
  CHECK_FALSE(agrees("metric: time"));
}

TEST_CASE("rules: cells become settings, the last rule has the word") {
  const RowScenario row = expressed(
      "- {rule: a, set: {model.sequence_length: $seq_len, train.accumulation: $grad_accum|1, "
      "model.overrides.x: $tp|$n_layers}" +
          k_why +
          "- {rule: b, set: {train.accumulation: 3, cluster.gpu: {lookup: gpu, in: {A100: A100-SXM-80GB}}}" +
          k_why + "- {rule: c, when: {gpu: H100}, set: {train.accumulation: 9}" + k_why,
      k_row);
  CHECK(row.reason.empty());
  CHECK(row.rules == std::vector<std::string>{"a", "b"});
  CHECK(row.yaml ==
        "name: \"r1\"\nmodel:\n  sequence_length: 8\n  overrides:\n    x: 4\ntrain:\n  accumulation: "
        "3\ncluster:\n  gpu: A100-SXM-80GB\n");
}

TEST_CASE("rules: what cannot be said is a reason") {
  CHECK(expressed("- {rule: a, set: {model.vocab: $vocab}" + k_why, k_row).reason ==
        "the source does not say vocab");
  CHECK(expressed("- {rule: a, set: {x: {lookup: gpu, in: {H100: h}}}" + k_why, k_row).reason ==
        "gpu 'A100' is not known");
  CHECK(expressed("- {rule: a, set: {x: {lookup: tp, in: {H100: h}}}" + k_why, k_row).reason ==
        "the source does not say tp");
  const RowScenario refused = expressed(
      "- {rule: a, kind: k, nearest: n, series: s" + k_why + "- {rule: b, refuse: not built" + k_why, k_row);
  CHECK(refused.reason == "not built");
  CHECK(refused.yaml.empty());
  CHECK(refused.kinds == std::vector<std::string>{"k"});
  CHECK(refused.nearest == std::vector<std::string>{"n"});
  CHECK(refused.series == "s");
  CHECK(expressed("- {rule: a, kind: k" + k_why, "r1,a/b,,A100,12,FSDP2,8,1,,,,,,,,,,\n").reason ==
        "its GPUs do not fill nodes");
}

TEST_CASE("rules: a replaced setting does not ask for its cell") {
  const RowScenario row =
      expressed("- {rule: a, set: {x: $vocab}" + k_why + "- {rule: b, set: {x: 1}" + k_why, k_row);
  CHECK(row.reason.empty());
}

TEST_CASE("rules: mistakes have a place") {
  CHECK_THAT(error_of("a: 1\n"), contains_text("a list of rules is expected"));
  CHECK_THAT(error_of("- {rule: a, kind: k, source: y}\n"),
             contains_text("r.yaml:1:3: a: 'because' is missing"));
  CHECK_THAT(error_of("- {rule: a, kind: k, because: y}\n"), contains_text("'source' is missing"));
  CHECK_THAT(error_of("- {kind: k, because: x, source: y}\n"), contains_text("its name, is missing"));
  CHECK_THAT(error_of("- {rule: a" + k_why), contains_text("does nothing"));
  CHECK_THAT(error_of("- {rule: a, sets: {x: 1}" + k_why), contains_text("unknown field 'sets' of a rule"));
  CHECK_THAT(error_of("- {rule: a, when: {gpus: A100}, kind: k" + k_why),
             contains_text("unknown column 'gpus'"));
  CHECK_THAT(error_of("- {rule: a, metric: speed, kind: k" + k_why), contains_text("unknown metric 'speed'"));
  CHECK_THAT(error_of("- {rule: a, set: {x: {lookup: gpu}}" + k_why), contains_text("'lookup' needs 'in'"));
}

TEST_CASE("rules: one that is about a single row is an error") {
  const PublishedTable table =
      table_of("r1,a/b,,A100,8,FSDP2,8,1,,,,,,,,,,\nr2,a/b,,H100,8,FSDP2,8,1,,,,,,,,,,\n");
  CHECK(check_rules(rules_of("- {rule: a, kind: k, when: {strategy: FSDP2}" + k_why), table));
  const Status single = check_rules(rules_of("- {rule: a, kind: k, when: {gpu: H100}" + k_why), table);
  REQUIRE_FALSE(single);
  CHECK_THAT(message_text(single.error()), contains_text("r.yaml:1:3: a: matches a single row of small.csv"));
  const Status none = check_rules(rules_of("- {rule: a, kind: k, when: {gpu: B200}" + k_why), table);
  REQUIRE_FALSE(none);
  CHECK_THAT(message_text(none.error()), contains_text("matches no row of small.csv"));
}

TEST_CASE("rules: those that ship are about more than a row of the table that ships") {
  const auto folder = find_asset("backtest");
  REQUIRE_OK(folder);
  const auto rules = read_rules(*folder);
  REQUIRE_OK(rules);
  std::ifstream file(*folder / "published_runs.csv", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto table = read_published(text, "published_runs.csv");
  REQUIRE_OK(table);
  CHECK(table->runs.size() == 727);
  REQUIRE_OK(check_rules(*rules, *table));
}

}  // namespace shardlab

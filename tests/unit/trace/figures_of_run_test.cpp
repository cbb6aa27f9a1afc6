#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/scenario/keys/sections.h"
#include "engine/trace/figure_rows.h"
#include "engine/trace/metrics.h"
#include "engine/trace/run_figures.h"
#include "engine/trace/run_summary_json.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

using Json = nlohmann::ordered_json;

// A struct with figures, of which both JSON and comparisons are made: as little as one can be.
struct Weather {
  double warmth = 1.5;
  std::optional<Bytes> rain = Bytes{7};
  std::vector<std::string> words = {"mild"};
};

}  // namespace

// What a new figure takes: a field above and a row here.
template <>
inline constexpr auto k_figures<Weather> = std::tuple{
    figure("warmth", &Weather::warmth, "how warm it is")
        .metric_of({"warmth", MetricUnit::fraction, Listed::always, 0})
        .set_by("cluster"),
    figure("rain", &Weather::rain, "what has fallen").remarked("null indoors"),
    figure("words", &Weather::words, "what people say"),
};

namespace {

TEST_CASE("figures: a row says everything about its field") {
  std::vector<std::string> seen;
  const Weather weather;
  visit_figures(&weather, [&](const FigureFacts& facts, const auto* value) {
    seen.push_back(std::string(facts.name) + (value ? "" : " absent"));
  });
  CHECK(seen == std::vector<std::string>{"warmth", "rain", "words"});
  CHECK(std::get<0>(k_figures<Weather>).metric.name == "warmth");
  CHECK(std::get<0>(k_figures<Weather>).settings[0] == "cluster");
  CHECK(std::get<0>(k_figures<Weather>).settings[1].empty());
  CHECK(std::get<1>(k_figures<Weather>).remark == "null indoors");
}

TEST_CASE("figures: what is absent has no value below it, and its rows are visited all the same") {
  const auto known_in = [](const RunSummary* run) {
    std::set<std::string_view> known;
    visit_figures(run, [&](const FigureFacts& facts, const auto* value) {
      if (value) known.insert(facts.name);
    });
    return known;
  };
  RunSummary run;
  CHECK_FALSE(known_in(&run).contains("peak_allocated"));
  run.memory.emplace();
  CHECK(known_in(&run).contains("peak_allocated"));
  CHECK(known_in(nullptr).empty());
}

TEST_CASE("figures: docs/json.md is what the rows say") {
  std::ifstream stream(test::source_folder() / "docs/json.md", std::ios::binary);
  const std::string committed{std::istreambuf_iterator<char>(stream), {}};
  INFO("to renew it: put what 'shardlab show --document' prints between its marks");
  const bool same = committed.find("<!-- shardlab show --document -->\n" + figure_reference() +
                                   "<!-- end -->\n") != std::string::npos;
  CHECK(same);
}

TEST_CASE("figures: docs/json.md names every column of the list of runs") {
  std::ifstream stream(test::source_folder() / "docs/json.md", std::ios::binary);
  const std::string committed{std::istreambuf_iterator<char>(stream), {}};
  const std::string history = committed.substr(committed.find("## `history`"));
  visit_columns([&](const FigureFacts& facts) {
    INFO(facts.column);
    CHECK(history.find("`" + std::string(facts.column) + "`") != std::string::npos);
  });
}

TEST_CASE("figures: rows lie in the JSON of a run in their order") {
  RunSummary run;
  run.memory.emplace();
  run.volume.emplace();
  const Json json = summary_json(run);
  std::vector<std::string> keys, rows;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  for (const auto& [key, value] : json["memory"].items()) keys.push_back("memory." + key);
  for (const FigureRow& row : figure_rows())
    if (row.path.find('.') == std::string::npos) rows.push_back(row.path);
  for (const FigureRow& row : figure_rows())
    if (row.path.starts_with("memory.") && row.path.find('.', 7) == std::string::npos)
      rows.push_back(row.path);
  CHECK(keys == rows);
}

TEST_CASE("figures: names and places are each used once, and everything is said in words") {
  std::set<std::string> names;
  std::set<int> places;
  for (const FigureRow& row : figure_rows()) {
    INFO(row.path);
    CHECK_FALSE(row.facts.meaning.empty());
    const MetricRule& rule = row.facts.metric;
    if (rule.name.empty()) continue;
    CHECK(names.insert(std::string(rule.name)).second);
    CHECK(places.insert(rule.place).second);
    const auto begins = [&](const std::string& metric) { return metric.starts_with(rule.name); };
    const std::vector<std::string> metrics = metric_names();
    CHECK((rule.name == "operator." || std::any_of(metrics.begin(), metrics.end(), begins)));
  }
  CHECK(names.contains("step_time"));
}

TEST_CASE("figures: found by the name of a metric, a column or a field") {
  REQUIRE(find_figure("peak.activation"));
  CHECK(find_figure("peak.activation")->path == "memory.by_class");
  CHECK(find_figure("step_time")->path == "step_time_ns.median");
  CHECK(find_figure("last_loss")->path == "losses");
  CHECK(find_figure("communication_bytes")->path == "communication");
  CHECK(find_figure("fits")->type == "text?");
  CHECK(find_figure("operators")->type == "list");
  CHECK(find_figure("kind")->path == "kind");
  CHECK_FALSE(find_figure("beauty"));
  CHECK_FALSE(find_figure(""));
}

TEST_CASE("figures: every metric that a scenario may set a tolerance for can be judged") {
  RunSummary run;
  run.memory.emplace();
  run.memory->peak_reserved = Bytes{2000};
  run.tokens_per_second_per_gpu = 12;
  run.communication = {{InstructionKind::AllGather, 2, 1, {300}, {}, {}},
                       {InstructionKind::AllReduce, 2, 1, {5}, {}, {}}};
  for (const std::string& name : tolerance_metric_names()) {
    INFO(name);
    CHECK(check_tolerances({{name, 0.1}}).has_value());
  }
  const auto value_of = [&](const char* name) {
    for (const Metric& metric : summary_metrics(run, run, {{name, 0.1}}))
      if (metric.name == name) return metric.measured;
    return std::optional<double>();
  };
  CHECK(value_of("peak_reserved") == 2000);
  CHECK(value_of("peak_active") == std::nullopt);
  CHECK(value_of("tokens_per_second_per_gpu") == 12);
  CHECK(value_of("communication_bytes") == 305);
  // Without a tolerance what both know of the device is listed, and no sum of what is listed already.
  const auto lists = [&](const RunSummary& other, std::string_view name) {
    const std::vector<Metric> metrics = summary_metrics(run, other, {});
    return std::any_of(metrics.begin(), metrics.end(), [&](const Metric& each) { return each.name == name; });
  };
  CHECK(lists(run, "peak_reserved"));
  CHECK_FALSE(lists(RunSummary(), "peak_reserved"));
  CHECK_FALSE(lists(run, "communication_bytes"));
}

TEST_CASE("figures: columns are taken from the summary") {
  RunSummary run;
  run.calibrated = true;
  run.step_time.median = {20};
  run.losses = {3, 2};
  run.fits = Fit::no;
  RunEntry entry;
  entry.peak_allocated = Bytes{1};  // replaced by what the run has: nothing
  set_columns(entry, run);
  CHECK(entry.calibrated);
  CHECK(entry.step_time == Nanoseconds{20});
  CHECK(entry.last_loss == 2);
  CHECK(entry.fits == Fit::no);
  CHECK_FALSE(entry.peak_allocated);
}

}  // namespace
}  // namespace shardlab

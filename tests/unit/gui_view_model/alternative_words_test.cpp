#include "gui/view_model/memory/alternative_words.h"

#include "engine/planner/plan_scenario.h"
#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"

using namespace shardlab;
using namespace shardlab::view;

namespace {

PlannedScenario planned_on(const std::string& cluster) {
  auto scenario =
      parse_scenario("model: {config: tiny-llama, sequence_length: 64}\ncluster: " + cluster +
                         "\nparallel: {strategy: fsdp2}\ntrain: {micro_batch: 2, accumulation: 2}\n",
                     "s.yaml");
  REQUIRE_OK(scenario);
  auto planned = plan_scenario(*scenario);
  REQUIRE_OK(planned);
  return *std::move(planned);
}

}  // namespace

TEST_CASE("steps of different numbers of tokens are compared by tokens a second") {
  const auto words = [](std::optional<Fit> fits) {
    return alternative_words({"train.micro_batch=1", "", Bytes{1024}, Nanoseconds{100'000'000}, 2560, fits});
  };
  CHECK(words(Fit::yes) == "1.00 KiB at the peak, 2,560 tokens/s");
  CHECK(words(Fit::no) == "1.00 KiB at the peak, 2,560 tokens/s; does not fit");
  CHECK(words(Fit::unsure) == "1.00 KiB at the peak, 2,560 tokens/s; unsure");
  CHECK(words({}) == "1.00 KiB at the peak, 2,560 tokens/s");
}

TEST_CASE("a price is told where one is known") {
  RunSummary run;
  run.tokens_per_second = 1e6;
  CHECK(price_words(planned_on("{device: cpu, ranks: 2}"), run).empty());
  const std::string words = price_words(planned_on("{node: hgx-h100}"), run);
  CHECK(words.starts_with("$"));
  CHECK(words.find(" an hour, $") != std::string::npos);
  CHECK(words.ends_with(" a billion tokens"));
}

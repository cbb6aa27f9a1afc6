#include "engine/hardware/fitted_figures.h"

#include <string>

#include "engine/hardware/kernel_figures.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

std::string figure(const std::string& name, const std::string& value) {
  return "\"" + name + "\": {\"value\": " + value +
         ", \"low\": 0.4, \"high\": 0.9, \"unit\": \"1\", \"meaning\": \"m\", \"source\": \"s\"}";
}

// All of them, the first with this value; `more` behind them.
std::string document(const std::string& first, const std::string& more = "") {
  std::string text = "{\"figures\": {";
  for (const Word<FittedFigure>& word : k_words<FittedFigure>)
    text += (word.value == k_words<FittedFigure>.front().value ? "" : ", ") +
            figure(std::string(word.text), word.value == k_words<FittedFigure>.front().value ? first : "0.5");
  return text + more + "}}";
}

}  // namespace

TEST_CASE("fitted figures: values with their ranges") {
  const auto read = parse_fitted_figures(document("0.75"), "f.json");
  REQUIRE_OK(read);
  CHECK(read->of(FittedFigure::product_speed) == 0.75);
  CHECK(read->at(FittedFigure::memory_speed).high == 0.9);
}

TEST_CASE("fitted figures: what lies outside of its range, is missing or unknown is told with its place") {
  const auto outside = parse_fitted_figures(document("0.95"), "f.json");
  REQUIRE_FALSE(outside);
  CHECK_THAT(outside.error().what, test::contains_text("0.95 is not within 0.4 and 0.9"));
  const auto unknown = parse_fitted_figures(document("0.5", ", " + figure("product_sped", "0.5")), "f.json");
  REQUIRE_FALSE(unknown);
  CHECK_THAT(unknown.error().hint, test::contains_text("product_speed"));
  const auto missing =
      parse_fitted_figures("{\"figures\": {" + figure("product_speed", "0.5") + "}}", "f.json");
  REQUIRE_FALSE(missing);
  CHECK_THAT(missing.error().what, test::contains_text("is missing"));
  CHECK_FALSE(parse_fitted_figures("{}", "f.json"));
  CHECK_FALSE(parse_fitted_figures(document("\"fast\""), "f.json"));
}

TEST_CASE("fitted figures and kernels: the shipped ones") {
  const auto fitted = read_fitted_figures();
  REQUIRE_OK(fitted);
  for (const Word<FittedFigure>& word : k_words<FittedFigure>) {
    INFO(word.text);
    CHECK_FALSE(fitted->at(word.value).source.empty());
  }
  const auto kernels = read_kernel_figures();
  REQUIRE_OK(kernels);
  CHECK(kernels->tiles.rows == 128);
  CHECK(kernels->attention.narrow < 1);
}

}  // namespace shardlab

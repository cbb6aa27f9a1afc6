// What the reference of keys marks as not supported is refused with the same words, and nothing else is.
#include <algorithm>

#include "engine/planner/plan_scenario.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/unsupported.h"
#include "tests/catch.h"
#include "tests/plans/key_cases.h"
#include "tests/plans/plan_cases.h"

namespace shardlab::test {
namespace {

constexpr const char* k_refusal = "not supported yet: ";

// Empty when there is a plan.
std::string error_of(const std::vector<std::string>& settings) {
  const auto scenario = parse_small_llama(settings);
  if (!scenario) return to_string(scenario.error());
  const auto planned = plan_scenario(*scenario);
  return planned ? "" : to_string(planned.error());
}

// The settings beside which a key is known to be of use, none, and a drive, which nvme needs.
std::vector<std::vector<std::string>> places_of(const std::string& key) {
  std::vector<std::vector<std::string>> places{{}, {"cluster.nvme.path=/scratch"}};
  for (const KeyCase& each : key_cases())
    if (each.key == key) places.push_back(each.settings);
  return places;
}

std::vector<std::string> errors_of(const std::string& key, const std::string& value) {
  std::vector<std::string> errors;
  for (std::vector<std::string> settings : places_of(key)) {
    settings.push_back(key + "=" + value);
    errors.push_back(error_of(settings));
  }
  return errors;
}

bool is_marked(const MarkedKey& line, const std::string& word) {
  const UnsupportedValue* const row = find_unsupported(line.path, word);
  return row != nullptr && !row->predicted && (!row->words.empty() || word != line.default_value);
}

bool refuses(const std::string& error) {
  return error.find(k_refusal) != std::string::npos;
}

}  // namespace

TEST_CASE("a word is refused as not supported with its mark's words exactly when it is marked") {
  int marked = 0, free = 0;
  for (const MarkedKey& line : all_keys()) {
    if (!line.values.only_words || line.path.find("[]") != std::string::npos) continue;
    for (const std::string& word : line.values.words) {
      INFO(line.path << "=" << word);
      const std::vector<std::string> errors = errors_of(line.path, word);
      if (is_marked(line, word)) {
        ++marked;
        const std::string hint = nearest_hint(*find_unsupported(line.path, word));
        CHECK_THAT(line.unsupported,
                   contains_text(hint) && (contains_text(word) || contains_text("all but ")));
        CHECK(std::any_of(errors.begin(), errors.end(), [&](const std::string& error) {
          return error.find(k_refusal + word) != std::string::npos && error.find(hint) != std::string::npos;
        }));
        CHECK(std::find(errors.begin(), errors.end(), "") == errors.end());
      } else {
        ++free;  // beside something else it may be refused, but not everywhere
        CHECK_FALSE(std::all_of(errors.begin(), errors.end(), refuses));
      }
    }
  }
  CHECK(marked > 6);
  CHECK(free > 60);
}

TEST_CASE("a key is marked exactly when its value on the list of every key is refused as not supported") {
  for (const MarkedKey& line : all_keys()) {
    INFO(line.path << ": " << line.unsupported);
    const std::vector<KeyCase> cases = key_cases();
    for (const KeyCase& each : cases) {
      if (each.key != line.path || each.effect == "text") continue;
      const std::string error = error_of(each.changed);
      const UnsupportedValue* const row = find_unsupported(line.path);
      if (row == nullptr) {
        CHECK(line.unsupported.empty());
        continue;
      }
      CHECK_THAT(line.unsupported, contains_text(nearest_hint(*row)));
      if (row->words.empty() && refuses(error)) CHECK_THAT(error, contains_text(nearest_hint(*row)));
      if (row->words.empty() && !row->predicted) CHECK_FALSE(error.empty());
    }
  }
}

TEST_CASE("every row of the table is about a key and its words, and names what works") {
  const std::vector<MarkedKey> keys = all_keys();
  for (const UnsupportedValue& row : unsupported_values()) {
    INFO(row.key);
    CHECK_FALSE(row.nearest.empty());
    const auto line = std::find_if(keys.begin(), keys.end(), [&](const MarkedKey& each) {
      return each.path == row.key || each.path.starts_with(row.key + ".");
    });
    REQUIRE(line != keys.end());
    for (const std::string& word : row.words) CHECK_THAT(line->values.text, contains_text(word));
  }
}

TEST_CASE("settings of single units that are not built are refused by name") {
  for (const char* name : {"activation.checkpoint: full", "offload.parameters: cpu"}) {
    const std::string error = error_of({std::string("parallel.wrap.overrides=[{match: {class: "
                                                    "LlamaDecoderLayer}, settings: {") +
                                        name + "}}]"});
    CHECK_THAT(error, contains_text("of single units") && contains_text("nearest that works: "));
  }
}

}  // namespace shardlab::test

// A scenario: read, written, read again.
#include "engine/scenario/read_scenario.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {

Answer read_scenario_text(std::string_view bytes) {
  const Result<ReadScenario> read = parse_scenario_with_source(bytes, "input.yaml");
  if (!read) return answer_of(read);
  const std::string text = write_scenario(read->scenario);
  const Result<ReadScenario> again = parse_scenario_with_source(text, "input.yaml");
  if (!again) check_error(again.error());
  promise(again.has_value(), "a scenario that was written can be read:\n" + text);
  promise(again->scenario == read->scenario, "a scenario passes through its text:\n" + text);
  return answer_of(parse_scenario(bytes, "input.yaml"));
}

}  // namespace shardlab::fuzz

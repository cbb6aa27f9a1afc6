// Small texts of one line or a few: the first byte says of what.
#include "engine/base/error_json.h"
#include "engine/base/parse.h"
#include "engine/plan/group.h"
#include "simulator/memory/caching_allocator/allocator_options.h"
#include "simulator/search/outcome.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {
namespace {

Answer read_sizes(std::string_view text) {
  if (const auto bytes = parse_bytes(text))
    promise(parse_bytes(format_bytes(*bytes)) == bytes, "a size passes through its text");
  if (const auto time = parse_duration(text))
    promise(parse_duration(format_duration(*time)) == time, "a duration passes through its text");
  if (const auto number = parse_number(text))
    promise(parse_number(format_number(*number)) == number, "a number passes through its text");
  if (const auto fraction = parse_fraction(text))
    promise(parse_fraction(format_fraction(*fraction)) == fraction, "a fraction passes through its text");
  (void)parse_bytes_per_second(text);
  (void)parse_boolean(text);
  return answer_of(parse_integer(text));
}

Answer read_outcome(std::string_view text) {
  const Result<KeptOutcome> kept = parse_outcome(text);
  if (!kept) return answer_of(kept);
  const Result<KeptOutcome> again = parse_outcome(outcome_text(kept->key, kept->outcome));
  promise(again && again->key == kept->key && again->outcome == kept->outcome,
          "an outcome passes through its line");
  return Answer::taken;
}

Answer read_error(std::string_view text) {
  const std::string json = error_json(parse_error_json(text));
  promise(error_json(parse_error_json(json)) == json, "an error passes through its line");
  return Answer::taken;
}

}  // namespace

Answer read_short_text(std::string_view bytes) {
  if (bytes.empty()) return Answer::refused;
  const std::string_view text = bytes.substr(1);
  switch (bytes[0]) {
    case 's': return read_sizes(text);
    case 'o': return read_outcome(text);
    case 'e': return read_error(text);
    case 'a': return answer_of(parse_allocator_options(text));
    case 'r': return parse_rank_set(text) ? Answer::taken : Answer::refused;
    default: return Answer::refused;
  }
}

}  // namespace shardlab::fuzz

// The table of published runs, and rules for its rows.
#include "simulator/backtest/published_table.h"
#include "simulator/backtest/source_rules.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {

Answer read_published_rules(std::string_view bytes) {
  const auto table = read_published(bytes, "input.csv");
  if (!table) check_error(table.error());
  return answer_of(parse_rules(bytes, "input.yaml"));
}

}  // namespace shardlab::fuzz

// Values of keys that are known and not built yet: the one table from which they are refused (validate.h),
// marked in the reference of all keys, and marked in forms.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/scenario/keys/key.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

struct UnsupportedValue {
  std::string key;                 // of docs/scenario.md; a section stands for all of its keys
  std::vector<std::string> words;  // the values; none: all but the default
  std::string nearest;             // that works, as it is proposed; never empty
  bool predicted = false;          // predictions take it, a real run does not
};

// All of them, with what strategies say of theirs (strategy_facts.h). What is refused only beside another
// setting is not here.
const std::vector<UnsupportedValue>& unsupported_values();

// The row of a key, the teacher's included; null when all of its values are built. Where words of one key
// have different nearest ones there are several rows: `word` chooses, empty takes the first.
const UnsupportedValue* find_unsupported(std::string_view key, std::string_view word = {});

// "nearest that works: auto".
std::string nearest_hint(const UnsupportedValue& value);

// A row of the reference with its mark: which values are refused, and what works; empty where all are built.
struct MarkedKey : KeyLine {
  std::string unsupported;
};

// Every key of docs/scenario.md, in its order.
std::vector<MarkedKey> all_keys();

// What this scenario says of them; `key` is the one that was written, below a section of the table.
struct UnsupportedUse {
  std::string key;
  std::string shown;  // the value
  std::string hint;
};
std::vector<UnsupportedUse> unsupported_uses(const Scenario& scenario);

// Whether a real run does what the scenario asks for. Errors: bad_input at the first key that is predicted
// only.
Status check_runs(const Scenario& scenario);

}  // namespace shardlab

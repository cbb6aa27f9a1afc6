#include "engine/formats/tools/read_back.h"

#include <algorithm>

namespace shardlab {

ReadBack same_value(const ImportSubject&, const ForeignValue* value) {
  if (value == nullptr || value->is_null()) return unset_setting();
  return set_setting(as_yaml(*value));
}

bool is_automatic(const ForeignValue* value) {
  static constexpr std::string_view k_auto = "auto";
  return value != nullptr && value->is_text() && value->text == k_auto;
}

std::string strategy_of(Framework framework, int zero_stage) {
  const auto known = known_strategies();
  const auto found = std::find_if(known.begin(), known.end(), [&](const KnownStrategy& strategy) {
    return strategy.facts->framework == framework && strategy.facts->zero_stage == zero_stage;
  });
  return found == known.end() ? std::string() : std::string(found->name);
}

}  // namespace shardlab

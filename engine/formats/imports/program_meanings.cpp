#include "engine/formats/imports/program_meanings.h"

#include <algorithm>
#include <iterator>

namespace shardlab {

const KnownSection& meaning(std::string_view section) {
  static const KnownSection empty;
  const auto programs = known_keys("programs");
  return programs ? (*programs)->section(section) : empty;
}

bool means(std::string_view section, const std::string& name) {
  return meaning(section).find(name) != nullptr;
}

bool asks_for_something(const ForeignValue& value) {
  static constexpr std::string_view k_nothing[] = {"", "false", "False", "none", "None", "null", "0"};
  switch (value.kind) {
    case ForeignValue::Kind::null: return false;
    case ForeignValue::Kind::boolean: return value.flag;
    case ForeignValue::Kind::integer:
    case ForeignValue::Kind::number: return value.number != 0;
    case ForeignValue::Kind::text:
      return std::find(std::begin(k_nothing), std::end(k_nothing), value.text) == std::end(k_nothing);
    case ForeignValue::Kind::list: return !value.items.empty();
    case ForeignValue::Kind::map: return !value.entries.empty();
  }
  return false;
}

const ForeignEntry* entry_of(const ForeignValue& own, std::string_view section) {
  const auto found = std::find_if(own.entries.begin(), own.entries.end(),
                                  [&](const ForeignEntry& entry) { return means(section, entry.key); });
  return found == own.entries.end() ? nullptr : &*found;
}

bool trains_adapters(const ForeignValue& own) {
  static constexpr std::string_view k_words[] = {"lora", "qlora", "true", "True"};
  bool has_switch = false;
  for (const ForeignEntry& entry : own.entries) {
    if (!means("adapter", entry.key)) continue;
    has_switch = true;
    const bool on = entry.value.is_text() ? std::find(std::begin(k_words), std::end(k_words),
                                                      entry.value.text) != std::end(k_words)
                                          : asks_for_something(entry.value);
    if (on) return true;
  }
  return !has_switch && entry_of(own, "adapter_rank") != nullptr;
}

}  // namespace shardlab

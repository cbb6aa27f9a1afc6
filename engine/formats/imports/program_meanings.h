// What a program's own argument means, by the table of programs (assets/formats/programs.yaml).
#pragma once

#include <string>
#include <string_view>

#include "engine/formats/foreign/foreign_value.h"
#include "engine/formats/foreign/known_keys.h"

namespace shardlab {

// The arguments of one meaning ("adapter_rank"); empty where the table has no such section.
const KnownSection& meaning(std::string_view section);

bool means(std::string_view section, const std::string& name);

// "", false, null, none and zero ask for nothing.
bool asks_for_something(const ForeignValue& value);

// The first argument of that meaning; null: there is none.
const ForeignEntry* entry_of(const ForeignValue& own, std::string_view section);

// By the switches; where there is none, by the rank alone.
bool trains_adapters(const ForeignValue& own);

}  // namespace shardlab

// The rules themselves, for people and for programs.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "engine/doctor/rule.h"

namespace shardlab {

// A line a rule, by topic.
std::string rules_text();
nlohmann::ordered_json rules_json();

// Everything that one rule says, with an example that triggers it.
std::string rule_text(const Rule& rule);
nlohmann::ordered_json rule_json(const Rule& rule);

// docs/rules.md.
std::string rules_page();

// "log", "configuration, log": in what the rule is looked for; "not checked yet", "advice".
std::string checked_in(const Rule& rule);

}  // namespace shardlab

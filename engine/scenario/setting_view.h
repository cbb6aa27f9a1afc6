// One setting of a scenario as it is shown to people: its key, its value as text, and where it comes from.
#pragma once

#include <string>

#include "engine/scenario/scenario.h"
#include "engine/scenario/source.h"

namespace shardlab {

struct SettingView {
  std::string key;    // dotted
  std::string value;  // as docs/scenario.md writes it
  bool given = false;
  std::string where;      // file:line:column or --set, when given
  bool in_words = false;  // the value is a default that is told, not written: "what the others leave"
};

// `key` is one of docs/scenario.md; an unknown one gives an empty value.
SettingView view_setting(const Scenario& scenario, const ScenarioSource& source, const std::string& key);

}  // namespace shardlab

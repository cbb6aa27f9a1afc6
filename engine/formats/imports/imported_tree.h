// The tree of the scenario that files of other tools describe.
#pragma once

#include <string_view>

#include "engine/base/yaml.h"
#include "engine/formats/tools/import_subject.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

// `base` (--onto and --set; an empty map without them) with what the files say in place of it. `onto` is the
// base as a scenario, null where it is none. Settings of the base that the files' strategy does not have, or
// that the files replace, are left out. Every node keeps its place.
YamlNode imported_tree(const ImportReading& reading, const YamlNode& base, const Scenario* onto);

// A setting at a dotted key, in place of what is there.
void set_in_tree(YamlNode& root, std::string_view key, YamlNode value);

// Settings that a scenario needs and nobody says: "model.config", ...
std::vector<std::string> missing_settings(const YamlNode& tree);

}  // namespace shardlab

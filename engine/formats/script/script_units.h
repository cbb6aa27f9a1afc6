// The units of a scenario as a program names them. Private to this folder.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/formats/tools/export_subject.h"
#include "engine/scenario/resolve_units.h"

namespace shardlab {

struct ScriptUnit {
  std::vector<std::string> paths;  // one for each of joined modules; the root's is empty
  UnitSettings settings;
};

struct ScriptUnits {
  std::vector<ScriptUnit> inner;  // inner ones before those around them
  ScriptUnit root;
  std::vector<std::string> ignored;  // paths of modules
  // Where every inner unit is a module of these classes, every such module is one, and all are set alike.
  std::vector<std::string> classes;
};

// Errors are those of wrap_modules() and resolve_unit_settings().
Result<ScriptUnits> script_units(const ExportSubject& subject);

}  // namespace shardlab

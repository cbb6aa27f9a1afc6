// Files of other tools as a scenario: read, put onto another, and with what the tools run unasked.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/formats/imports/import_case.h"
#include "engine/formats/tools/export_target.h"
#include "engine/formats/tools/import_subject.h"
#include "engine/scenario/read_scenario.h"

namespace shardlab {

// A setting that the scenario says and that no run or prediction takes yet.
struct UnsupportedText {
  std::string key;
  std::string what;  // "not supported yet: 8"
  std::string hint;
};

struct MadeImport {
  ImportReading reading;
  ReadScenario read;                      // what runs
  std::vector<ExportDifference> unasked;  // settings that the tool decides, already in the scenario
  std::vector<UnsupportedText> unbuilt;   // what of it is not built yet
};

struct ImportRequest {
  std::vector<std::filesystem::path> files;
  std::filesystem::path onto;          // empty: none
  std::vector<std::string> overrides;  // --set: over what the files say
  // In place of what the file of `onto` holds: it is being edited.
  std::optional<std::string> onto_text{};
};

// bad_input with all mistakes and their places; or with the names of settings that nobody says.
Result<MadeImport> make_import(const ImportRequest& request);

// The files' settings and warnings with the mistakes that end their reading, if any; what --onto and --set
// say of the model and the ranks counts. Errors are about those two.
Result<CaseReading> examine_import(const ImportRequest& request);

// The same as make_import() of traces: what they show (formats/profiler/seen_plan.h). bad_input where that is
// nothing.
Result<MadeImport> make_import_of_traces(const ImportRequest& request);

}  // namespace shardlab

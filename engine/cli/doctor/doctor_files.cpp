#include "engine/cli/doctor/doctor_files.h"

#include <map>
#include <utility>

#include "engine/base/input_file.h"
#include "engine/base/text/log_lines.h"
#include "engine/base/text_place.h"
#include "engine/formats/imports/foreign_file.h"
#include "engine/imports/made_import.h"
#include "engine/scenario/validate.h"

namespace shardlab {
namespace {

std::string tool_of(ForeignKind kind) {
  switch (kind) {
    case ForeignKind::deepspeed: return "deepspeed";
    case ForeignKind::accelerate: return "accelerate";
    case ForeignKind::trainer:
    case ForeignKind::fsdp_section: return "transformers";
    case ForeignKind::axolotl: return "axolotl";
    case ForeignKind::script: return "launcher";
  }
  return {};
}

// Lines of the files that mistakes stand in, and whose files they are.
class NamedFiles {
 public:
  std::string tool(const std::string& file) {
    const auto [found, is_new] = tools_.try_emplace(file);
    if (is_new) {
      const auto read = read_foreign_file(file);
      if (read) found->second = tool_of(read->kind);
    }
    return found->second;
  }

  std::string line(const Place& place) {
    const auto wanted = text_place(place);
    if (!wanted) return {};
    const auto [found, is_new] = texts_.try_emplace(place.file);
    if (is_new) found->second = read_input_file(place.file, k_description_file).value_or("");
    const std::string& text = found->second;
    const LineRange line = line_at(text, offset_of(text, {wanted->line, 1}));
    return readable(std::string_view(text).substr(line.begin, line.end - line.begin));
  }

 private:
  std::map<std::string, std::string> tools_, texts_;  // by the file
};

void add_fault(ToolFiles& files, NamedFiles& named, Place place, std::string what, std::string hint,
               ErrorCode code, bool is_refused) {
  FileFault fault;
  fault.code = code;
  fault.is_refused = is_refused;
  fault.tool = named.tool(place.file);
  fault.line = named.line(place);
  fault.place = std::move(place);
  fault.what = std::move(what);
  fault.hint = std::move(hint);
  files.faults.push_back(std::move(fault));
}

// What the files do not say is no mistake of theirs.
bool is_fault(ErrorCode code) {
  return code != ErrorCode::unsaid && code != ErrorCode::no_counterpart;
}

void add_error(ToolFiles& files, NamedFiles& named, const Error& error) {
  for (const Error& part : error.parts) add_error(files, named, part);
  if (!error.parts.empty()) return;
  if (!is_fault(error.code)) {
    if (files.not_planned.empty()) {
      files.not_planned = message_text(error);
      files.to_plan = error.hint;
    }
    return;
  }
  const std::string what = error.place.name.empty() ? error.what : error.place.name + ": " + error.what;
  add_fault(files, named, error.place, what, error.hint, error.code, true);
}

void add_warnings(ToolFiles& files, NamedFiles& named, const ImportReading& reading) {
  for (const ForeignWarning& warning : reading.warnings) {
    if (is_fault(warning.code))
      add_fault(files, named, warning.place, warning.what, warning.hint, warning.code, false);
  }
}

// Why the scenario of the files is not planned; the first reason of several.
void tell_not_planned(ToolFiles& files, const Error& error) {
  const Error& first = error.parts.empty() ? error : error.parts.front();
  files.not_planned = what_text(first);
  files.to_plan = first.hint;
}

}  // namespace

Result<DoctorFiles> read_doctor_files(const std::vector<std::string>& files, const std::string& onto,
                                      const CommonOptions& options) {
  DoctorFiles examined;
  examined.name = files.front();
  ImportRequest request;
  request.files.assign(files.begin(), files.end());
  request.onto = onto;
  request.overrides = options.overrides;
  SHARDLAB_TRY(const CaseReading reading, examine_import(request));
  NamedFiles named;
  if (reading.error) add_error(examined.files, named, *reading.error);
  add_warnings(examined.files, named, reading.reading);
  if (reading.error) return examined;
  Result<MadeImport> made = make_import(request);
  if (!made) {
    add_error(examined.files, named, made.error());
    return examined;
  }
  // Nothing must be planned of what is not built.
  if (const Status supported = check_supported(made->read.scenario, made->read.source); !supported) {
    tell_not_planned(examined.files, supported.error());
    return examined;
  }
  auto job = job_of_read(made->read, options);
  if (job)
    examined.job = *std::move(job);
  else
    tell_not_planned(examined.files, job.error());
  return examined;
}

}  // namespace shardlab

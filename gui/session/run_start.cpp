#include "gui/session/run_start.h"

#include <unistd.h>

#include <utility>

#include <fmt/format.h>

#include "engine/base/output_file.h"
#include "engine/base/paths.h"

namespace shardlab::gui {

namespace fs = std::filesystem;

Result<ScenarioCopy> ScenarioCopy::write(const Document& document) {
  std::error_code ignored;
  const std::string stem = document.file().empty() ? "scenario" : document.file().stem().string();
  const std::string name = fmt::format(".{}-running-{}.yaml", stem, ::getpid());
  const fs::path folder = document.file().empty() ? fs::current_path(ignored)
                                                  : fs::absolute(document.file(), ignored).parent_path();
  if (write_output_file(folder / name, document.text())) return ScenarioCopy(folder / name);
  const fs::path elsewhere = fs::temp_directory_path(ignored) / name;
  SHARDLAB_CHECK_OK(write_output_file(elsewhere, document.text()));
  return ScenarioCopy(elsewhere);
}

ScenarioCopy& ScenarioCopy::operator=(ScenarioCopy&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

ScenarioCopy::~ScenarioCopy() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove(path_, ignored);
}

Result<StartedRun> start_run(const Document& document, view::JobKind kind, const fs::path& database,
                             fs::path program) {
  if (program.empty()) program = program_folder() / "shardlab";
  SHARDLAB_TRY(ScenarioCopy copy, ScenarioCopy::write(document));
  view::JobRequest request;
  request.program = std::move(program);
  request.kind = kind;
  request.scenario = copy.path();
  request.database = database;
  SHARDLAB_TRY(std::unique_ptr<view::Job> job, view::Job::start(std::move(request)));
  return StartedRun{std::move(copy), std::move(job)};
}

}  // namespace shardlab::gui

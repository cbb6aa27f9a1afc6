#include "gui/session/trace_import.h"

#include <fmt/format.h>

#include <string_view>

#include "engine/base/input_file.h"
#include "engine/base/paths.h"

namespace shardlab::gui {

bool looks_like_trace(const std::filesystem::path& file) {
  constexpr FileKind k_head{"trace", std::int64_t{64} << 10};
  constexpr std::string_view k_gzip = "\x1f\x8b";
  const std::string text = read_beginning(file, k_head).value_or("");
  return text.starts_with(k_gzip) || text.find("\"traceEvents\"") != std::string_view::npos ||
         text.find("\"ph\"") != std::string_view::npos;
}

Result<TraceImport> TraceImport::start(std::vector<std::filesystem::path> files,
                                       const std::filesystem::path& database, std::filesystem::path program) {
  if (program.empty()) program = program_folder() / "shardlab";
  std::string title = files.front().filename().string();
  if (files.size() > 1) title += fmt::format(" and {} more", files.size() - 1);
  view::JobRequest request;
  request.program = std::move(program);
  request.kind = view::JobKind::import_traces;
  request.database = database;
  request.traces = std::move(files);
  SHARDLAB_TRY(std::unique_ptr<view::Job> job, view::Job::start(std::move(request)));
  return TraceImport(std::move(job), std::move(title));
}

std::optional<Result<RunId>> TraceImport::poll() {
  job_->poll();
  if (!job_->ended()) return std::nullopt;
  if (job_->trouble()) return fail(*job_->trouble());
  if (job_->output().stored.empty())
    return fail(Error{ErrorKind::run_failed, title_, "ended without a run", "try `shardlab import` by hand"});
  return job_->output().stored.back().id;
}

}  // namespace shardlab::gui

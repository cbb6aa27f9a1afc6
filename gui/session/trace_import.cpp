#include "gui/session/trace_import.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <string_view>

#include "engine/base/paths.h"

namespace shardlab::gui {

bool looks_like_trace(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return false;  // a pipe would be waited for
  std::array<char, 1 << 16> head{};
  std::ifstream stream(file, std::ios::binary);
  stream.read(head.data(), head.size());
  const std::string_view text(head.data(),
                              static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
  constexpr std::string_view k_gzip = "\x1f\x8b";
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

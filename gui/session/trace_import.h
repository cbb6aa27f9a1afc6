// Traces of torch.profiler on their way into the database of runs: read by a child process, so that neither a
// large file nor a bad one is the window's trouble.
//
// Belongs to the frame's thread; nothing here waits for the child.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/trace/run_entry.h"
#include "gui/view_model/job.h"

namespace shardlab::gui {

// Looks at the first bytes: gzip, or JSON in which events begin. A file that cannot be read is no trace.
bool looks_like_trace(const std::filesystem::path& file);

class TraceImport {
 public:
  // A file a rank. `program` is shardlab; an empty path: the one beside this program. Without a program it
  // fails with not_possible.
  static Result<TraceImport> start(std::vector<std::filesystem::path> files,
                                   const std::filesystem::path& database, std::filesystem::path program);

  // The stored run, or why there is none; absent while it is under way.
  std::optional<Result<RunId>> poll();
  // "trace.json", "trace.json and 3 others".
  const std::string& title() const { return title_; }

 private:
  TraceImport(std::unique_ptr<view::Job> job, std::string title)
      : job_(std::move(job)), title_(std::move(title)) {}

  std::unique_ptr<view::Job> job_;
  std::string title_;
};

}  // namespace shardlab::gui

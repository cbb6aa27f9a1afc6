// Starting a real run of the scenario that is being edited, saved or not.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/base/result.h"
#include "gui/session/document.h"
#include "gui/view_model/job.h"

namespace shardlab::gui {

// A file of the text as it is now, in the folder where relative paths of the document begin (else among the
// temporary files); removed with the object. A folder that cannot be written is not_possible.
class ScenarioCopy {
 public:
  static Result<ScenarioCopy> write(const Document& document);
  ScenarioCopy(ScenarioCopy&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScenarioCopy& operator=(ScenarioCopy&& other) noexcept;
  ~ScenarioCopy();
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScenarioCopy(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

struct StartedRun {
  ScenarioCopy scenario;
  std::unique_ptr<view::Job> job;  // ends before the copy does
};

// `program` is shardlab; an empty path: the one beside this program.
Result<StartedRun> start_run(const Document& document, view::JobKind kind,
                             const std::filesystem::path& database, std::filesystem::path program = {});

}  // namespace shardlab::gui

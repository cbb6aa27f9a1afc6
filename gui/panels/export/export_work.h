// The threads of the export panel: files made of the open scenario, laid beside what stands on disk, written.
//
// Belongs to the frame's thread, and never waits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/session/session.h"
#include "gui/view_model/exports/prepared_export.h"
#include "gui/view_model/exports/standing_file.h"
#include "gui/view_model/latest.h"

namespace shardlab::gui {

class ExportWork {
 public:
  // Each frame in which somebody looks: asks for what the scenario, the target and the folder are now, once
  // it is predicted.
  void follow(const Session& session);
  // Each frame: takes what is ready; what was written, or why not, is told.
  void take(Session& session);

  void choose_target(std::string name) { target_ = std::move(name); }
  void write_into(std::filesystem::path folder) { chosen_folder_ = std::move(folder); }
  // The one that was chosen, else the scenario's own.
  const std::filesystem::path& folder() const { return folder_; }

  // Null until there is one; of an older wish while is_stale().
  const std::shared_ptr<const view::PreparedExport>& prepared() const { return preparing_.value(); }
  bool is_stale() const { return preparing_.busy() || !is_followed_; }
  // The files of prepared(), or, for a moment, of the one before.
  const std::vector<view::StandingFile>& files() const;
  bool overwrites() const;

  // Files and comparison are those of this moment, and nothing is being written.
  bool can_write() const;
  void write();

  bool busy() const { return preparing_.busy() || looking_.busy() || writing_.busy(); }

 private:
  // What the files are made of.
  struct Source {
    std::uint64_t document = 0, revision = 0;
    std::string file_name, target;
    const void* prediction = nullptr;  // another one where calibrations changed
    friend bool operator==(const Source&, const Source&) = default;
  };
  struct Looked {
    std::shared_ptr<const view::PreparedExport> of;
    std::filesystem::path folder;
    std::vector<view::StandingFile> files;
  };
  void look_again(double now);

  std::string target_;
  std::optional<std::filesystem::path> chosen_folder_;
  std::filesystem::path folder_;
  std::optional<Source> wanted_;
  bool is_followed_ = false;  // what is wanted is of the text as it stands
  double looked_at_ = -1e9;   // seconds
  view::Latest<view::PreparedExport> preparing_;
  view::Latest<Looked> looking_;
  view::Latest<Status> writing_;
};

}  // namespace shardlab::gui

#include "gui/panels/export/export_work.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "engine/base/text/printable.h"

namespace shardlab::gui {
namespace {

namespace fs = std::filesystem;

constexpr double k_look_every_seconds = 1;

fs::path folder_of(const Session& session) {
  std::error_code ignored;
  return fs::absolute(session.file_name(), ignored).parent_path();
}

}  // namespace

void ExportWork::follow(const Session& session) {
  folder_ = chosen_folder_.value_or(folder_of(session));
  // The prediction comes first: it is what is looked at while somebody types.
  is_followed_ = false;
  if (session.predicting()) return;
  Source source{session.documents_opened(), session.document().revision(), session.file_name(), target_,
                session.prediction().get()};
  if (wanted_ != source) {
    view::ExportWish wish{session.document().text(), session.file_name(), target_, session.calibrations(),
                          session.database().string()};
    preparing_.want([wish = std::move(wish)] { return view::prepare_export(wish); });
    wanted_ = std::move(source);
  }
  is_followed_ = true;
  look_again(session.now());
}

// Other programs write files too.
void ExportWork::look_again(double now) {
  const auto& prepared = preparing_.value();
  if (!prepared || looking_.busy() || writing_.busy()) return;
  const auto& known = looking_.value();
  const bool is_of_this = known && known->of == prepared && known->folder == folder_;
  if (is_of_this && now - looked_at_ < k_look_every_seconds) return;
  looked_at_ = now;
  looking_.want([prepared, folder = folder_] {
    return Looked{prepared, folder, view::look_at_standing(prepared->made.files, folder)};
  });
}

void ExportWork::take(Session& session) {
  const auto tell = [&](const std::optional<std::string>& failure) {
    if (failure)
      session.messages().add(Error{ErrorKind::internal, "the export", *failure, {}}, "export", session.now());
  };
  if (preparing_.poll()) tell(preparing_.failure());
  if (looking_.poll()) tell(looking_.failure());
  if (!writing_.poll()) return;
  looked_at_ = -1e9;
  if (writing_.failure()) return tell(writing_.failure());
  if (!*writing_.value()) {
    session.messages().add(writing_.value()->error(), "export", session.now());
    return;
  }
  std::string names;
  for (const view::StandingFile& file : files()) names += (names.empty() ? "" : ", ") + printable(file.name);
  session.messages().clear("export");
  session.messages().news(fmt::format("written into {}: {}", printable(folder_.string()), names),
                          session.now());
}

const std::vector<view::StandingFile>& ExportWork::files() const {
  static const std::vector<view::StandingFile> none;
  return looking_.value() ? looking_.value()->files : none;
}

bool ExportWork::overwrites() const {
  return std::any_of(files().begin(), files().end(),
                     [](const view::StandingFile& file) { return file.standing.has_value(); });
}

bool ExportWork::can_write() const {
  const auto& looked = looking_.value();
  return !is_stale() && !writing_.busy() && looked && looked->of == prepared() && looked->folder == folder_ &&
         !looked->files.empty();
}

void ExportWork::write() {
  const auto looked = looking_.value();
  writing_.want(
      [looked] { return view::write_over_standing(looked->of->made, looked->folder, looked->files); });
}

}  // namespace shardlab::gui

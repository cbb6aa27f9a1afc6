#include "gui/view_model/exports/standing_file.h"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "engine/base/input_file.h"
#include "engine/base/text/line_edits.h"
#include "engine/base/text/printable.h"
#include "engine/report/figures.h"

namespace shardlab::view {
namespace {

namespace fs = std::filesystem;

constexpr FileKind k_standing{"file to compare with", std::int64_t{1} << 20};
constexpr std::size_t k_lines_around = 3;
constexpr int k_most_edits = 1000;  // more of them tell nobody anything

// A text that ends a line has an empty one behind it, so that the end of the last line counts too.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t at = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', at)) {
    lines.push_back(printable(std::string_view(text).substr(at, end - at)));
    at = end + 1;
  }
  lines.push_back(printable(std::string_view(text).substr(at)));
  return lines;
}

DiffLine::Kind kind_of(LineEdit::Kind kind) {
  switch (kind) {
    case LineEdit::Kind::kept: return DiffLine::Kind::kept;
    case LineEdit::Kind::removed: return DiffLine::Kind::removed;
    case LineEdit::Kind::added: return DiffLine::Kind::added;
  }
  return DiffLine::Kind::kept;
}

std::vector<LineEdit> all_replaced(const std::vector<std::string>& before,
                                   const std::vector<std::string>& after) {
  std::vector<LineEdit> edits;
  for (const std::string& line : before) edits.push_back({LineEdit::Kind::removed, &line});
  for (const std::string& line : after) edits.push_back({LineEdit::Kind::added, &line});
  return edits;
}

void add_difference(StandingFile& file) {
  const std::vector<std::string> before = lines_of(*file.standing);
  std::vector<LineEdit> edits = line_edits(before, file.lines, k_most_edits);
  if (edits.empty()) edits = all_replaced(before, file.lines);
  const std::vector<bool> shown = near_changes(edits, k_lines_around);
  for (std::size_t i = 0; i < edits.size(); ++i) {
    file.added += edits[i].kind == LineEdit::Kind::added ? 1 : 0;
    file.removed += edits[i].kind == LineEdit::Kind::removed ? 1 : 0;
    if (shown[i])
      file.difference.push_back({kind_of(edits[i].kind), *edits[i].line});
    else if (i == 0 || shown[i - 1])
      file.difference.push_back({DiffLine::Kind::left_out, "..."});
  }
}

// Absent where nothing stands there.
std::optional<Result<std::string>> read_standing(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) return std::nullopt;
  return read_input_file(path, k_standing);
}

StandingFile look_at(const ExportedFile& exported, const fs::path& folder) {
  StandingFile file;
  file.name = exported.name;
  file.lines = lines_of(exported.text);
  auto standing = read_standing(folder / exported.name);
  if (!standing) return file;
  if (!*standing) {
    file.trouble = standing->error();
    return file;
  }
  file.standing = **std::move(standing);
  if (*file.standing != exported.text) add_difference(file);
  return file;
}

Status check_still_the_same(const StandingFile& file, const fs::path& folder) {
  if (file.trouble) return fail(*file.trouble);
  const auto now = read_standing(folder / file.name);
  if (now && !*now) return fail(now->error());
  if (now.has_value() == file.standing.has_value() && (!now || **now == *file.standing)) return {};
  return bad_input(in_file((folder / file.name).string()), "is another one than was compared",
                   "look at the difference, and write once more");
}

}  // namespace

std::vector<StandingFile> look_at_standing(const std::vector<ExportedFile>& files, const fs::path& folder) {
  std::vector<StandingFile> looked_at;
  for (const ExportedFile& file : files) looked_at.push_back(look_at(file, folder));
  return looked_at;
}

std::string standing_words(const StandingFile& file) {
  if (file.trouble) return printable(message_text(*file.trouble));
  if (!file.standing) return "is not there yet";
  if (file.difference.empty()) return "stands there already, the same";
  return fmt::format("another one stands there: {} would go, {} would be new",
                     counted(static_cast<std::int64_t>(file.removed), "line"), file.added);
}

Status write_over_standing(const MadeExport& made, const fs::path& folder,
                           const std::vector<StandingFile>& looked_at) {
  bool replaces = false;
  for (const StandingFile& file : looked_at) {
    SHARDLAB_CHECK_OK(check_still_the_same(file, folder));
    replaces = replaces || file.standing.has_value();
  }
  return write_exports({made}, folder, replaces);
}

}  // namespace shardlab::view

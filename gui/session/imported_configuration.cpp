#include "gui/session/imported_configuration.h"

#include <algorithm>
#include <exception>

#include <fmt/format.h>

#include "engine/base/text/printable.h"
#include "engine/imports/import_report.h"

namespace shardlab::gui {
namespace {

Result<MadeImport> import_alone(const ConfigurationFiles& asked) {
  auto made = make_import({asked.files, {}, {}});
  if (!made && made.error().code == ErrorCode::unsaid)
    made.error().hint = "open a scenario that says it, and drop the files again: they are put onto that";
  return made;
}

Result<MadeImport> import_onto(const ConfigurationFiles& asked) {
  return make_import({asked.files, asked.open_file, {}, asked.open_text});
}

ImportedConfiguration told(const MadeImport& made, bool is_put_onto) {
  ImportedConfiguration imported;
  imported.text = imported_yaml(made);
  imported.files = printable(imported_files_words(made));
  imported.is_put_onto = is_put_onto;
  for (const ImportNote& note : import_notes(made)) {
    switch (note.tone) {
      case Tone::bad: imported.lost.push_back(printable(note.text)); break;
      case Tone::fair: imported.warnings.push_back(printable(note.text)); break;
      default: ++imported.others;
    }
  }
  return imported;
}

Result<ImportedConfiguration> import_as_needed(const ConfigurationFiles& asked) {
  const auto alone = import_alone(asked);
  if (alone) return told(*alone, false);
  if (asked.open_file.empty()) return fail(alone.error());
  SHARDLAB_TRY(const MadeImport onto, import_onto(asked));
  return told(onto, true);
}

}  // namespace

Result<ImportedConfiguration> import_configuration(const ConfigurationFiles& asked) {
  try {
    return import_as_needed(asked);
  } catch (const std::exception& exception) {
    // A defect must not end the window.
    return fail(Error{ErrorKind::internal, "the import", exception.what(), {}});
  }
}

std::string first_lines(const std::vector<std::string>& lines, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(lines.size(), most); ++i)
    text += (text.empty() ? "" : "\n") + lines[i];
  if (lines.size() > most) text += fmt::format("\nand {} more, at the head of the text", lines.size() - most);
  return text;
}

}  // namespace shardlab::gui

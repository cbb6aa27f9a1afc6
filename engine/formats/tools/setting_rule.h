// What becomes of a setting that a tool's file does not say.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/words.h"
#include "engine/formats/tools/export_subject.h"

namespace shardlab {

// How a run of the exported files differs from the scenario.
enum class DifferenceKind : std::uint8_t {
  lost,       // the scenario asks for something that the file cannot say
  added,      // the tool does something that the scenario does not ask for
  elsewhere,  // the user's program decides, not the file
};
template <>
inline constexpr auto k_words<DifferenceKind> =
    std::to_array<Word<DifferenceKind>>({{DifferenceKind::lost, "lost"},
                                         {DifferenceKind::added, "added"},
                                         {DifferenceKind::elsewhere, "elsewhere"}});
// Short, for tables of rules.
inline constexpr DifferenceKind k_lost = DifferenceKind::lost;
inline constexpr DifferenceKind k_added = DifferenceKind::added;
inline constexpr DifferenceKind k_elsewhere = DifferenceKind::elsewhere;

// What happens instead. For lost and added settings it is what runs, as docs/scenario.md would write the
// value; for settings elsewhere it is the line of the program that says it. Nothing where the run is as the
// scenario says.
using RunsInstead = std::optional<std::string> (*)(const ExportSubject& subject);

struct SettingRule {
  std::string_view setting;  // of docs/scenario.md; a section stands for its keys
  DifferenceKind kind;
  RunsInstead instead;  // null: nothing to say, the setting is about predicting and measuring alone
  std::string_view why;
};

}  // namespace shardlab

// A log as the doctor sees it: what is wrong with the job that wrote it, and the lines that show it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/base/result.h"
#include "engine/doctor/examine.h"

namespace shardlab::gui {

struct LogSource {
  std::string name;            // in findings and above them
  std::filesystem::path file;  // empty: it was pasted
  std::string text;            // then; else empty
};

struct ExaminedLog {
  std::string name;
  std::filesystem::path file;
  Examination examination;
  // Lines around those that evidence names, by their number: what can be shown of a log of any size.
  std::map<std::int64_t, std::string> lines;
  std::optional<Error> error;  // then nothing was examined

  static constexpr std::int64_t k_lines_around = 12;
};

// Whether a file that was dropped on the window may be one: text, and by its name nothing else that the
// window opens.
bool looks_like_log(const std::filesystem::path& file);

// In bounded memory, twice over the bytes. `is_wanted` is asked between pieces of them; after it says no what
// is returned is of no use. What is no text gives an error.
ExaminedLog examine_log(const LogSource& log, const std::function<bool()>& is_wanted);

}  // namespace shardlab::gui

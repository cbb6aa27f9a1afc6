#include "gui/session/text_file.h"

#include <cstdint>
#include <fstream>
#include <sstream>

namespace shardlab::gui {

Result<std::string> read_text_file(const std::filesystem::path& file) {
  constexpr std::uintmax_t k_most = 256 << 10;
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error))
    return bad_input(file.string(), "is no file that can be read");
  if (const auto size = std::filesystem::file_size(file, error); error || size > k_most)
    return bad_input(file.string(), "is too large for a scenario", "at most 256 KiB");
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) return bad_input(file.string(), "cannot be read");
  return text.str();
}

Status write_text_file(const std::filesystem::path& file, std::string_view text) {
  std::error_code error;
  // A link is kept: what it points to is replaced.
  const std::filesystem::path real =
      std::filesystem::is_symlink(file, error) ? std::filesystem::weakly_canonical(file, error) : file;
  std::filesystem::path beside = real;
  beside += ".new";
  std::ofstream stream(beside, std::ios::binary);
  stream << text;
  stream.close();
  if (stream) std::filesystem::rename(beside, real, error);
  if (!stream || error) {
    std::error_code ignored;
    std::filesystem::remove(beside, ignored);
    return not_possible(file.string(), "cannot be written", "save it in another folder");
  }
  return {};
}

}  // namespace shardlab::gui

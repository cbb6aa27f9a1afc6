#include "engine/store/database_file.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

#include "engine/store/run_store.h"
#include "engine/store/schema.h"

namespace shardlab {

namespace {

// https://www.sqlite.org/fileformat.html, 1.3 "The Database Header": big-endian fields.
constexpr std::size_t k_header_size = 100;
constexpr std::size_t k_user_version_offset = 60;
constexpr std::size_t k_application_id_offset = 68;
constexpr std::string_view k_magic{"SQLite format 3\0", 16};

using Header = std::array<char, k_header_size>;

std::uint32_t field(const Header& header, std::size_t offset) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(header[offset + i]);
  return value;
}

Result<DatabaseFile> inspect_header(const Place& place, const Header& header) {
  if (field(header, k_application_id_offset) != k_application_id) {
    return bad_input(place, "this is a database of another program, it was left as it is",
                     "name another file with --db");
  }
  const std::uint32_t version = field(header, k_user_version_offset);
  if (version > static_cast<std::uint32_t>(schema_version())) {
    return bad_input(
        place,
        fmt::format(
            "this database was written by a newer shardlab (version {} of the schema, this program knows {})",
            version, schema_version()),
        "use that shardlab, or another file with --db");
  }
  return DatabaseFile::ours;
}

}  // namespace

Result<DatabaseFile> inspect_database_file(const std::filesystem::path& path) {
  const Place place = in_file(path.string());
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return DatabaseFile::missing;
  if (status.type() == std::filesystem::file_type::none) return unreadable(bad_input(place, error.message()));
  if (status.type() != std::filesystem::file_type::regular) {
    return bad_input(place,
                     std::filesystem::is_directory(status) ? "this is a folder" : "this is no ordinary file",
                     "name the file of the database with --db");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return unreadable(bad_input(place, fmt::format("the database cannot be read: {}", std::strerror(errno))));
  Header header{};
  file.read(header.data(), header.size());
  if (file.gcount() == 0) return DatabaseFile::empty;
  const std::string_view magic(header.data(), k_magic.size());
  if (file.gcount() != static_cast<std::streamsize>(header.size()) || magic != k_magic) {
    return bad_input(place, "this file is not a database, it was left as it is",
                     "name another file with --db");
  }
  return inspect_header(place, header);
}

namespace {

// Empty when unset. The XDG base directory specification ignores relative paths.
std::filesystem::path folder_from(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value != '/') return {};
  return value;
}

}  // namespace

Result<std::filesystem::path> default_database_path() {
  if (const char* chosen = std::getenv("SHARDLAB_DB"); chosen != nullptr && *chosen != '\0') {
    return std::filesystem::path(chosen);
  }
  std::filesystem::path data = folder_from("XDG_DATA_HOME");
  if (data.empty()) {
    const std::filesystem::path home = folder_from("HOME");
    if (home.empty()) {
      return bad_input("database",
                       "there is no place for it: neither SHARDLAB_DB, XDG_DATA_HOME nor HOME is set",
                       "name a file with --db FILE");
    }
    data = home / ".local" / "share";
  }
  return data / "shardlab" / "shardlab.db";
}

}  // namespace shardlab

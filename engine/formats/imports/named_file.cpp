#include "engine/formats/imports/named_file.h"

#include <system_error>

#include <fmt/format.h>

namespace shardlab {

namespace fs = std::filesystem;

std::optional<fs::path> find_named_file(const fs::path& wanted, const ForeignValue& name,
                                        ImportReading& reading) {
  std::error_code error;
  if (fs::exists(wanted, error)) return wanted;
  if (wanted.is_absolute()) return std::nullopt;
  static constexpr int k_most_folders = 8;
  fs::path folder = fs::absolute(name.place.file, error).lexically_normal().parent_path();
  for (int above = 0; above < k_most_folders && folder.has_relative_path(); ++above) {
    if (const fs::path there = (folder / wanted).lexically_normal(); fs::exists(there, error)) {
      const bool is_beside = above == 0;
      reading.warnings.push_back(
          {name.place,
           fmt::format("{} lies {}, the tool looks in the folder that it is started in", name.text,
                       is_beside ? "beside this file" : "in " + folder.string()),
           "start it there, or give the whole path"});
      return is_beside ? fs::path(name.place.file).parent_path() / wanted : there;
    }
    folder = folder.parent_path();
  }
  return std::nullopt;
}

}  // namespace shardlab

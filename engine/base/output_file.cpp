#include "engine/base/output_file.h"

namespace shardlab {

namespace fs = std::filesystem;

Result<fs::path> replaceable_file(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::is_symlink(path, error) ? fs::weakly_canonical(path, error) : path;
  const fs::file_status status = fs::status(real, error);
  if (!fs::exists(status) || fs::is_regular_file(status)) return real;
  return bad_input(in_file(path.string()), fs::is_directory(status) ? "is a folder" : "is no ordinary file",
                   "name a file that may be replaced");
}

}  // namespace shardlab

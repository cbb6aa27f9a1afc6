#include "engine/cli/run_database.h"

namespace shardlab {
namespace {

Result<RunStore> open(const CommonOptions& options, OpenMode mode) {
  if (!options.database.empty()) return RunStore::open(options.database, mode);
  SHARDLAB_TRY(const std::filesystem::path path, default_database_path());
  return RunStore::open(path, mode);
}

}  // namespace

Result<RunStore> open_runs(const CommonOptions& options) {
  return open(options, OpenMode::existing);
}

Result<RunStore> open_or_create_runs(const CommonOptions& options) {
  return open(options, OpenMode::create);
}

}  // namespace shardlab

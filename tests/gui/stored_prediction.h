// A database with two stored predictions of the small scenario, the second slower, as if another machine's.
#pragma once

#include <filesystem>

#include "tests/paths.h"

namespace shardlab::test {

class StoredPrediction {
 public:
  // `measured`: the second one counts as a measurement.
  explicit StoredPrediction(bool measured = false);
  std::filesystem::path file() const { return folder_.path() / "runs.db"; }

 private:
  TemporaryFolder folder_;
};

}  // namespace shardlab::test

// Files of findings that are known.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/doctor/examine.h"

namespace shardlab {

struct BaselineFiles {
  std::string known;    // findings in it are left out; empty: none
  std::string written;  // gets all that was found, what is known included; empty: nowhere

  bool are_named() const { return !known.empty() || !written.empty(); }
};

// How many findings were written; absent where none were to be. Errors: those of reading and of writing the
// files, of reading alone before anything is written.
Result<std::optional<std::size_t>> use_baseline(const BaselineFiles& files,
                                                std::vector<Examination>& examinations);

}  // namespace shardlab

// What a benchmark cannot go on without.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "engine/base/result.h"

namespace shardlab {

// The value; without one the benchmark ends with the error on stderr.
template <typename T>
T required(Result<T> result) {
  if (result) return *std::move(result);
  fmt::print(stderr, "{}\n", to_string(result.error()));
  std::exit(1);
}

inline void required(const Status& status) {
  if (status) return;
  fmt::print(stderr, "{}\n", to_string(status.error()));
  std::exit(1);
}

}  // namespace shardlab

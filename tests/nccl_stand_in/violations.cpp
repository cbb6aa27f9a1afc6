#include "tests/nccl_stand_in/violations.h"

#include <cstdio>
#include <mutex>

#include "tests/nccl_stand_in/stand_in.h"

namespace stand_in {
namespace {

struct First {
  std::mutex mutex;
  std::string what;
};

First& first() {
  static auto* one = new First;  // threads may end after the program's statics
  return *one;
}

}  // namespace

void violate(const std::string& what) {
  const std::lock_guard lock(first().mutex);
  if (!first().what.empty()) return;
  first().what = what;
  std::fprintf(stderr, "NCCL stand-in: %s\n", what.c_str());
}

}  // namespace stand_in

const char* standInViolation() {
  static thread_local std::string copy;
  const std::lock_guard lock(stand_in::first().mutex);
  copy = stand_in::first().what;
  return copy.c_str();
}

void standInForget() {
  const std::lock_guard lock(stand_in::first().mutex);
  stand_in::first().what.clear();
}

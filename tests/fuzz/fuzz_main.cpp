// The two functions that libFuzzer calls. $SHARDLAB_FUZZ_TARGET says which target its inputs go to.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/fuzz_target.h"

namespace {

const shardlab::fuzz::FuzzTarget* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  const char* const name = std::getenv("SHARDLAB_FUZZ_TARGET");
  chosen = shardlab::fuzz::find_target(name == nullptr ? "" : name);
  if (chosen != nullptr) return 0;
  std::fprintf(stderr, "SHARDLAB_FUZZ_TARGET must name a target: shardlab_fuzz_replay --list\n");
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen->read({reinterpret_cast<const char*>(data), size});
  return 0;
}

// What a program asked of an allocator, from either form of file, and asked again of ours.
#include "simulator/memory/replay/allocator_recording.h"
#include "simulator/memory/replay/replay.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {

Answer read_allocator_recording(std::string_view bytes) {
  const auto recording = read_recording(std::string(bytes));
  if (!recording) return answer_of(recording);
  const auto outcome = replay(*recording, {});
  if (outcome) (void)outcome->fragmentation();
  return answer_of(outcome);
}

}  // namespace shardlab::fuzz

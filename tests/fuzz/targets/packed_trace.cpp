// The same in a file that may be gzip.
#include "engine/formats/profiler/profiler_trace.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"
#include "tests/fuzz/scratch_file.h"

namespace shardlab::fuzz {

Answer read_packed_trace(std::string_view bytes) {
  return answer_of(read_profiler_trace(scratch_file("input.json.gz", bytes)));
}

}  // namespace shardlab::fuzz

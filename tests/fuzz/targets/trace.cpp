// A trace of torch.profiler, up to the run that it is taken for.
#include "engine/formats/profiler/import_profile.h"
#include "engine/formats/profiler/profiler_trace.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {

Answer read_profiler_text(std::string_view bytes) {
  Result<ProfilerTrace> trace = parse_profiler_trace(bytes, "input.json");
  if (!trace) return answer_of(trace);
  std::vector<ProfilerTrace> traces;
  traces.push_back(*std::move(trace));
  return answer_of(import_profiles(traces, {"input.json"}));
}

}  // namespace shardlab::fuzz

#include "engine/trace/step_trace.h"

namespace shardlab {

RunTrace::RunTrace() = default;
RunTrace::RunTrace(const RunTrace&) = default;
RunTrace::RunTrace(RunTrace&&) noexcept = default;
RunTrace& RunTrace::operator=(const RunTrace&) = default;
RunTrace& RunTrace::operator=(RunTrace&&) noexcept = default;
RunTrace::~RunTrace() = default;

}  // namespace shardlab

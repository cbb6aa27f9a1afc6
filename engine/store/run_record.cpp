#include "engine/store/run_record.h"

namespace shardlab {

RunRecord::RunRecord() = default;
RunRecord::RunRecord(const RunRecord&) = default;
RunRecord::RunRecord(RunRecord&&) noexcept = default;
RunRecord& RunRecord::operator=(const RunRecord&) = default;
RunRecord& RunRecord::operator=(RunRecord&&) noexcept = default;
RunRecord::~RunRecord() = default;

}  // namespace shardlab

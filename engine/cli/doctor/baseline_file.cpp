#include "engine/cli/doctor/baseline_file.h"

#include <nlohmann/json.hpp>

#include "engine/base/input_file.h"
#include "engine/base/output_file.h"
#include "engine/doctor/report/known_findings.h"

namespace shardlab {

Result<std::optional<std::size_t>> use_baseline(const BaselineFiles& files,
                                                std::vector<Examination>& examinations) {
  std::vector<KnownFinding> known;
  if (!files.known.empty()) {
    SHARDLAB_TRY(const std::string text, read_input_file(files.known, k_baseline_file));
    SHARDLAB_TRY(known, read_baseline(text, files.known));
  }
  std::optional<std::size_t> written;
  if (!files.written.empty()) {
    const std::vector<KnownFinding> found = known_findings(examinations);
    const std::string text =
        baseline_json(found).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    SHARDLAB_CHECK_OK(write_output_file(files.written, text + "\n"));
    written = found.size();
  }
  leave_out_known(examinations, known);
  return written;
}

}  // namespace shardlab

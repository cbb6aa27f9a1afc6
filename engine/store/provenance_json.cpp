#include "engine/store/provenance_json.h"

#include <nlohmann/json.hpp>

#include "engine/base/json_depth.h"

namespace shardlab {

using Json = nlohmann::ordered_json;

std::string provenance_text(const Provenance& provenance) {
  const Json json = {{"calibrated", provenance.calibrated}, {"calibration", provenance.calibration},
                     {"machine", provenance.machine},       {"versions", provenance.versions},
                     {"assumes", provenance.assumes},       {"leaves_out", provenance.leaves_out}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Provenance> parse_provenance(std::string_view text, RunKind kind) {
  if (is_json_too_deep(text)) return bad_input("provenance of a run", "is nested too deeply");
  if (has_too_many_members(text)) return bad_input("provenance of a run", "has too many members");
  try {
    const Json json = Json::parse(text);
    Provenance provenance;
    provenance.kind = kind;
    provenance.calibrated = json.value("calibrated", false);
    provenance.calibration = json.value("calibration", "");
    provenance.machine = json.value("machine", "");
    provenance.versions = json.value("versions", provenance.versions);
    provenance.assumes = json.value("assumes", provenance.assumes);
    provenance.leaves_out = json.value("leaves_out", provenance.leaves_out);
    return provenance;
  } catch (const Json::exception& error) {
    return bad_input("provenance of a run", error.what());
  }
}

}  // namespace shardlab

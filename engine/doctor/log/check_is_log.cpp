#include "engine/doctor/log/check_is_log.h"

namespace shardlab {

Status check_is_log(const LogFacts& facts, const std::string& name) {
  if (facts.bytes == 0) return bad_input(in_file(name), "is empty");
  const bool rubbish = facts.control_bytes * 100 > facts.bytes * k_most_control_percent;
  if (!rubbish || !facts.signs.empty()) return {};
  return bad_input(in_file(name), "is not a text, and so no log",
                   "give what the job printed, a scenario, or the id of a stored run");
}

}  // namespace shardlab

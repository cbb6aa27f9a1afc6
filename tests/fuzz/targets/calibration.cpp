// A machine's fitted coefficients, as a database or a shipped file has them.
#include "simulator/calibrate/calibration.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {

Answer read_calibration(std::string_view bytes) {
  const Result<Calibration> calibration = calibration_from_json(bytes, "input.json");
  if (!calibration) return answer_of(calibration);
  const Result<Calibration> again = calibration_from_json(to_json(*calibration), "again.json");
  promise(again.has_value(), "a calibration that was written can be read");
  promise(*again == *calibration, "a calibration passes through its text");
  (void)calibration_id(*calibration);
  (void)without_collectives(*calibration);
  (void)calibration_mismatch(calibration->machine, this_machine(2, 1, "2.11.0"));
  return Answer::taken;
}

}  // namespace shardlab::fuzz

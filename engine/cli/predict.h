// The simulated executor, with the calibration that a database holds for this machine.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/cli/stored_runs.h"
#include "simulator/calibrate/calibration.h"

namespace shardlab {

struct Spread;  // simulator/spread/spread.h

// The newest calibration of this machine with the scenario's ranks and threads; none for clusters of GPUs.
// Errors: those of the store; bad_input for a stored text that is no calibration.
Result<std::optional<Calibration>> find_calibration(const RunStore& store, const Scenario& scenario);

// The same in the database that the options name, which nobody need have made; what ships with the program is
// known without one. Errors: likewise.
Result<std::optional<Calibration>> find_calibration_if_any(const CommonOptions& options,
                                                           const Scenario& scenario);

// Whether a prediction is made again with single keys changed (simulator/alternatives).
enum class WithAlternatives : std::uint8_t { no, yes };

// Simulates (all ranks with `spread`) and, unless `store` is null, saves the prediction. Errors: bad_input
// for hardware that is not known or a calibration of another machine; those of RunStore::save; internal for a
// plan that does not fit together.
Result<FinishedRun> predict(const PlannedScenario& planned, const std::optional<Calibration>& calibration,
                            RunStore* store, WithAlternatives with_alternatives = WithAlternatives::no,
                            const Spread* spread = nullptr);

}  // namespace shardlab

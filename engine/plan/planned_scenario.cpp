#include "engine/plan/planned_scenario.h"

namespace shardlab {

PlannedScenario::PlannedScenario() = default;
PlannedScenario::PlannedScenario(const PlannedScenario&) = default;
PlannedScenario::PlannedScenario(PlannedScenario&&) noexcept = default;
PlannedScenario& PlannedScenario::operator=(const PlannedScenario&) = default;
PlannedScenario& PlannedScenario::operator=(PlannedScenario&&) noexcept = default;
PlannedScenario::~PlannedScenario() = default;

}  // namespace shardlab

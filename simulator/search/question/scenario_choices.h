// Choices of a knob that a scenario allows.
#pragma once

#include <string>
#include <vector>

#include "simulator/search/question/search_question.h"

namespace shardlab {

// Those that the scenario allows, with `extra` settings beside each, and that differ from each other; the
// scenario's own first, shown as `own` or as the choice that says the same.
Knob knob_of_choices(std::string key, const BaseScenario& base, std::string own, std::vector<Choice> choices,
                     const std::vector<std::string>& extra = {});

}  // namespace shardlab

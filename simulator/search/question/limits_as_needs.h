// A scenario's `limits`, as needs of a search around it.
#pragma once

#include "simulator/search/question/question_reader.h"

namespace shardlab {

// Adds the limits of the base scenario to the needs, the tighter where both bound the same, and takes them
// out of the scenario, whose steps do not know them. `objective_given`: the search file names one. Complains
// of an objective that no search has.
void take_limits(SearchQuestion& question, bool objective_given, QuestionReader& reader);

}  // namespace shardlab

// What panels say about the runs they show: which there are, why there are none, what is wrong with the
// database.
#pragma once

#include <string>

#include "gui/session/session.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

// A hint in the middle of an empty panel.
void empty_state(const char* text, const char* hint, const Theme& theme);

// The same where a prediction would be: a scenario with a mistake has none, and saying how to open one is no
// help.
void no_prediction_state(const Session& session, const char* text, const char* hint, const Theme& theme);

// Instead of what a defect kept from being made.
void failure_state(const std::string& what, const Theme& theme);

// A line when the database is in trouble; nothing otherwise. True when it drew.
bool database_trouble(Session& session, const Theme& theme);

// Where the plot of an instruction's selection goes: chosen in the plan of this run.
std::optional<InstructionId> chosen_in(const Session& session, const view::LoadedRun& run);
void choose_in(Session& session, const view::LoadedRun& run, InstructionId id);

// Whether the run is the prediction of a text that is no more.
bool is_stale(Session& session, const view::LoadedRunPtr& run);

}  // namespace shardlab::gui

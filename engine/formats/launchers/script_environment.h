// The environment that a launch script gives to its ranks.
#pragma once

#include "engine/formats/launchers/launch_script.h"

namespace shardlab {

// What the ranks' libraries read becomes settings, launch.env above all; what else the script exports is
// listed. Warned of is what the ranks do not see, and what was meant for debugging and slows every step.
void read_script_environment(const LaunchScript& script, const ImportSubject& subject,
                             ImportReading& reading);

}  // namespace shardlab

// How a rank comes to the meeting of its run: rank 0 opens it and leaves word of it in the run's folder, the
// others look there until they are let in.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>

#include "engine/execute/meeting/meeting_client.h"
#include "engine/execute/meeting/meeting_server.h"
#include "engine/execute/rank_environment.h"

namespace shardlab {

struct Meeting {
  std::unique_ptr<MeetingServer> server;  // of rank 0 alone; ends with it
  std::shared_ptr<MeetingClient> client;
};

// The secret is `variables`' SHARDLAB_RUN_SECRET, else one that rank 0 makes; the address is that of
// `environment`, its port the one there unless that is taken. Blocks for `patience` at most. run_failed when
// there is no meeting by then, and sooner where it has another secret, with what to do; bad_input for a
// secret that is none.
Result<Meeting> come_to_meeting(const RankEnvironment& environment,
                                const std::filesystem::path& run_directory,
                                const EnvironmentVariables& variables, std::chrono::milliseconds patience);

}  // namespace shardlab

// What the files of a case say against each other.
#pragma once

#include <filesystem>

#include "engine/formats/launchers/launch_script.h"
#include "engine/formats/tools/import_subject.h"

namespace shardlab {

// A case has one system that shards. `unnamed`: DeepSpeed's file, where no other file names it; else null.
void check_two_systems(const ImportSubject& subject, const std::filesystem::path* unnamed,
                       Problems& problems);

// A launcher that knows nothing of accelerate's file starts as many ranks as that says.
void check_launched_ranks(const LaunchScript& launch, const ImportSubject& subject, Problems& problems);

}  // namespace shardlab

// A script that starts ranks, as the launcher's options and the program's arguments.
//
// Source: torch 2.11, distributed/run.py; accelerate 1.15.0, commands/launch.py; DeepSpeed 0.19.8,
// launcher/runner.py; sbatch of Slurm 24.05.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/formats/foreign/foreign_value.h"
#include "engine/formats/tools/import_subject.h"
#include "engine/scenario/problems.h"

namespace shardlab {

enum class RankStarter : std::uint8_t { torchrun, accelerate, deepspeed };
template <>
inline constexpr auto k_words<RankStarter> =
    std::to_array<Word<RankStarter>>({{RankStarter::torchrun, "torchrun"},
                                      {RankStarter::accelerate, "accelerate"},
                                      {RankStarter::deepspeed, "deepspeed"}});

struct LaunchScript {
  RankStarter launcher = RankStarter::torchrun;
  bool is_batch = false;                // for sbatch
  ForeignValue options;                 // a map: of the launcher, with underscores
  ForeignValue batch;                   // a map: of sbatch
  ForeignValue arguments;               // a map: --name value of the program, with its place
  std::vector<ForeignValue> positions;  // other words after the program
  std::vector<std::pair<std::string, ForeignValue>> environment;
  Place place;  // of the command
};

// bad_input where there is no command that starts ranks, or several that differ.
Result<LaunchScript> parse_launch_script(std::string_view text, std::string_view name, Problems& problems);

// Ranks that the script asks for; nothing where a variable says it.
ImportedRanks launched_ranks(const LaunchScript& script);

// The cluster, the environment and the allocator's options as settings, the rest as differences.
void read_launch_script(const LaunchScript& script, const ImportSubject& subject, ImportReading& reading);

}  // namespace shardlab

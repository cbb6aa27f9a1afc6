// A script that starts ranks, as the launcher's options and the program's arguments.
//
// Source: torch 2.11, distributed/run.py; accelerate 1.15.0, commands/launch.py; DeepSpeed 0.19.8,
// launcher/runner.py; sbatch of Slurm 24.05.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/formats/foreign/foreign_value.h"
#include "engine/formats/launchers/rank_commands.h"
#include "engine/formats/tools/import_subject.h"
#include "engine/scenario/problems.h"

namespace shardlab {

struct LaunchScript {
  RankStarter launcher = RankStarter::torchrun;
  std::string program;                  // of a launcher that is the program's own: "swift", "python"
  bool is_batch = false;                // for sbatch
  ForeignValue options;                 // a map: of the launcher, with underscores
  ForeignValue batch;                   // a map: of sbatch
  ForeignValue arguments;               // a map: --name value of the program, with its place
  std::vector<ForeignValue> positions;  // other words after the program
  std::vector<std::pair<std::string, ForeignValue>> environment;
  std::set<std::string> exported;  // names of the environment that the command sees
  std::set<std::string> used;      // names of variables that the script itself puts into its words
  std::map<std::string, ShellWord> documents;  // files that it writes, by shell_path()
  std::vector<ForeignWarning> warnings;
  Place place;  // of the command
};

// The command in `line`, where there are several that start ranks. bad_input where there is none, or several
// and no line.
Result<LaunchScript> parse_launch_script(std::string_view text, std::string_view name,
                                         std::optional<int> line, Problems& problems);

// A word of a command line as the number that Python's int and float make of it; nothing where they refuse.
std::optional<ForeignValue> python_number(std::string_view word, bool whole);

// Ranks that the script asks for; nothing where a variable says it.
ImportedRanks launched_ranks(const LaunchScript& script);

// The cluster, the environment and the allocator's options as settings, the rest as differences.
void read_launch_script(const LaunchScript& script, const ImportSubject& subject, ImportReading& reading);

}  // namespace shardlab

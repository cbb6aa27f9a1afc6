// What `shardlab doctor` is given: a log, a scenario, files of another tool, a stored run, dumps, a program.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/words.h"
#include "engine/doctor/flight/flight_dump.h"
#include "engine/doctor/log/log_facts.h"
#include "engine/doctor/program/program_facts.h"

namespace shardlab {

enum class DoctorTarget { scenario, files, run, log, flight, program };
template <>
inline constexpr auto k_words<DoctorTarget> =
    std::to_array<Word<DoctorTarget>>({{DoctorTarget::scenario, "scenario"},
                                       {DoctorTarget::files, "files"},
                                       {DoctorTarget::run, "run"},
                                       {DoctorTarget::log, "log"},
                                       {DoctorTarget::flight, "flight"},
                                       {DoctorTarget::program, "program"}});

// By its content: a file whose first keys are those of a scenario; a file of accelerate, DeepSpeed,
// transformers or of a launcher, also one with mistakes where its name ends in .json, .yaml or .yml; a dump;
// another file or "-" (standard input), which is a log; or what is no file and therefore names a stored run.
// A folder is one of dumps, and a name that ends in .py is Python's source. bad_input for a file that cannot
// be read.
Result<DoctorTarget> kind_of_target(const std::string& target);

// Reads a log as a stream, in bounded memory. "-" is standard input. Errors: bad_input for a log that cannot
// be read to its end, an empty one, a compressed one, and bytes that are no text.
Result<LogFacts> read_log(const std::string& target);

// The source of a program. Errors: those of reading a file.
Result<TrainingProgram> read_programs(const std::vector<std::string>& targets);

// Dumps of torch's flight recorder, one a rank; a folder stands for the dumps in it. Errors: those of
// read_flight_dump(), and bad_input for two dumps of one rank and a folder without any.
Result<std::vector<FlightDump>> read_flight_dumps(const std::vector<std::string>& targets);

}  // namespace shardlab

// What is known of one job: the input of every check.
//
// Whoever calls the doctor gathers it; what is not at hand stays null, and the rules that need it are skipped
// with that as the reason. The case owns nothing: what it points to must live as long as it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/doctor/rule.h"

namespace shardlab {

struct JobFacts;
struct FlightDump;
struct LogFacts;
struct MachineFacts;
struct ProgramFile;
struct ToolFiles;

struct Case {
  std::string source;                                   // how evidence names the target: a file, "-", a run
  const LogFacts* log = nullptr;                        // log/log_facts.h
  const JobFacts* job = nullptr;                        // job/job_facts.h
  const std::vector<FlightDump>* flight = nullptr;      // flight/flight_dump.h
  const ToolFiles* files = nullptr;                     // files/tool_files.h
  const std::vector<MachineFacts>* machines = nullptr;  // engine/machine; one, or one a rank
  const std::vector<ProgramFile>* program = nullptr;    // program/program_facts.h
};

// Whether what a check needs is in the case.
bool has(const Case& facts, Need need);

// Why a rule is skipped whose need is not there: "needs a log".
std::string_view why_missing(Need need);

}  // namespace shardlab

// What rules ask of a program. Private to the doctor.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/doctor/finding.h"
#include "engine/doctor/program/program_facts.h"
#include "engine/doctor/rule.h"

namespace shardlab {

struct Call {
  const ProgramFile* file = nullptr;
  const ProgramLine* line = nullptr;
  std::string arguments;  // as they are written
  std::string argument;   // the first one
};

// Calls of a function by the last part of its name, in the order of the files; not its definition.
std::vector<Call> calls_of(const TrainingProgram& program, std::string_view function);

// The first line with one of the pieces.
std::optional<Call> first_line_with(const TrainingProgram& program,
                                    std::initializer_list<std::string_view> pieces);

// Wrappings of FSDP1, of FSDP2, of DDP.
std::vector<Call> fsdp1_calls(const TrainingProgram& program);
std::vector<Call> fsdp2_calls(const TrainingProgram& program);

// Whether the program makes its process group and loaders itself, and no library for it.
bool is_plain_and_distributed(const TrainingProgram& program);

// Whether the first comes before the second in the same function.
bool is_before(const Call& first, const Call& second);

Evidence evidence_of(const Call& call);

// A finding of the rule with its message and the lines that show it.
Finding finding_of_program(const Rule& rule, int certainty, const std::vector<Call>& shown);

}  // namespace shardlab

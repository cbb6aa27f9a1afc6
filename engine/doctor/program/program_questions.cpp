#include "engine/doctor/program/program_questions.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/base/text/log_lines.h"
#include "engine/doctor/log/line_words.h"

namespace shardlab {
namespace {

// What stands in the brackets that open before `rest`, up to the one that closes them.
std::string_view in_brackets(std::string_view rest) {
  int depth = 1;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == '(' || rest[i] == '[' || rest[i] == '{') ++depth;
    if (rest[i] == ')' || rest[i] == ']' || rest[i] == '}') --depth;
    if (depth == 0) return rest.substr(0, i);
  }
  return rest;
}

std::string first_of(std::string_view arguments) {
  int depth = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == '(' || arguments[i] == '[') ++depth;
    if (arguments[i] == ')' || arguments[i] == ']') --depth;
    if (arguments[i] == ',' && depth == 0) return std::string(arguments.substr(0, i));
  }
  return std::string(arguments);
}

void add_calls(const ProgramFile& file, const ProgramLine& line, std::string_view opened,
               std::vector<Call>& calls) {
  const std::string_view text = line.text;
  for (std::size_t at = text.find(opened); at != std::string_view::npos; at = text.find(opened, at + 1)) {
    const bool is_whole = at == 0 || !continues_word(text[at - 1]);
    constexpr std::string_view k_definition = "def ";
    const bool is_definition = at >= k_definition.size() &&
                               text.substr(at - k_definition.size(), k_definition.size()) == k_definition;
    if (!is_whole || is_definition) continue;
    const std::string_view arguments = in_brackets(text.substr(at + opened.size()));
    calls.push_back({&file, &line, std::string(arguments), first_of(arguments)});
  }
}

void append(std::vector<Call>& calls, std::vector<Call> more) {
  for (Call& call : more) calls.push_back(std::move(call));
}

}  // namespace

std::vector<Call> calls_of(const TrainingProgram& program, std::string_view function) {
  const std::string opened = std::string(function) + "(";
  std::vector<Call> calls;
  for (const ProgramFile& file : program) {
    for (const ProgramLine& line : file.lines) add_calls(file, line, opened, calls);
  }
  return calls;
}

std::optional<Call> first_line_with(const TrainingProgram& program,
                                    std::initializer_list<std::string_view> pieces) {
  for (const ProgramFile& file : program) {
    for (const ProgramLine& line : file.lines) {
      const bool has = std::any_of(pieces.begin(), pieces.end(), [&](std::string_view piece) {
        return line.text.find(piece) != std::string::npos;
      });
      if (has) return Call{&file, &line, "", ""};
    }
  }
  return std::nullopt;
}

std::vector<Call> fsdp1_calls(const TrainingProgram& program) {
  std::vector<Call> calls = calls_of(program, "FSDP");
  append(calls, calls_of(program, "FullyShardedDataParallel"));
  return calls;
}

std::vector<Call> fsdp2_calls(const TrainingProgram& program) {
  return calls_of(program, "fully_shard");
}

bool is_plain_and_distributed(const TrainingProgram& program) {
  for (const std::string_view library : {"Accelerator", "Trainer", "Fabric", "deepspeed.initialize"}) {
    if (!calls_of(program, library).empty()) return false;
  }
  if (first_line_with(program, {"Trainer("})) return false;
  return !calls_of(program, "init_process_group").empty() || !calls_of(program, "init_device_mesh").empty();
}

bool is_before(const Call& first, const Call& second) {
  return first.file == second.file && first.line->function == second.line->function &&
         first.line->number < second.line->number;
}

Evidence evidence_of(const Call& call) {
  Evidence evidence{call.file->source, fmt::format("line {}", call.line->number), readable(call.line->text)};
  evidence.line = call.line->number;
  return evidence;
}

Finding finding_of_program(const Rule& rule, int certainty, const std::vector<Call>& shown) {
  Finding finding = finding_of(rule);
  finding.certainty = certainty;
  for (const Call& call : shown) finding.evidence.push_back(evidence_of(call));
  finding.position = shown.empty() ? 0 : shown.front().line->number;
  return finding;
}

}  // namespace shardlab

#include "simulator/lessons/found_instruction.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/base/nearest.h"
#include "engine/base/parse.h"
#include "engine/plan/instruction_words.h"

namespace shardlab::lessons {
namespace {

bool begins_with_words(std::string_view name, std::string_view words) {
  return name == words || (name.starts_with(words) && name[words.size()] == ' ');
}

}  // namespace

Result<InstructionId> found_instruction(const StepPlan& plan, const std::string& text) {
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    const auto id = make_id<InstructionId>(i);
    const std::string label = instruction_label(plan, id);
    const std::string_view name = std::string_view(label).substr(label.find(' ') + 1);
    if (label == text || begins_with_words(name, text)) return id;
  }
  const auto number = parse_integer(text);
  if (number && *number >= 0 && *number < static_cast<std::int64_t>(plan.instructions.size()))
    return make_id<InstructionId>(static_cast<std::size_t>(*number));
  const std::string first = text.substr(0, text.find(' '));
  return bad_input({}, fmt::format("the plan has no instruction '{}'", text),
                   parse_word<InstructionKind>(first) ? "`shardlab plan` lists them"
                                                      : suggestion(first, all_words<InstructionKind>()));
}

}  // namespace shardlab::lessons

#include "engine/cli/commands/meant_command.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "engine/base/lower_case.h"
#include "engine/base/nearest.h"

namespace shardlab {
namespace {

constexpr auto k_others = std::to_array<OtherCommand>({
    {"analyse", "explain", "doctor"},
    {"analyze", "explain", "doctor"},
    {"benchmark", "bench"},
    {"check", "doctor"},
    {"compare", "diff"},
    {"config", "scenario"},
    {"convert", "export", "import"},
    {"course", "lesson"},
    {"debug", "doctor"},
    {"diagnose", "doctor"},
    {"draw", "gui"},
    {"estimate", "simulate"},
    {"fit", "simulate"},
    {"fits", "simulate"},
    {"glossary", "explain"},
    {"gpus", "hardware"},
    {"launch", "run"},
    {"learn", "lesson"},
    {"list", "history"},
    {"log", "history", "doctor"},
    {"ls", "history"},
    {"memory", "explain", "simulate"},
    {"nodes", "hardware"},
    {"optimise", "search"},
    {"optimize", "search"},
    {"plot", "gui", "explain"},
    {"predict", "simulate"},
    {"profile", "trace", "explain"},
    {"run-all", "run"},
    {"runs", "history"},
    {"start", "run"},
    {"sweep", "search"},
    {"test", "validate"},
    {"time", "explain", "simulate"},
    {"timeline", "trace"},
    {"train", "run"},
    {"tune", "search"},
    {"tutorial", "lesson"},
    {"ui", "gui"},
    {"verify", "validate"},
    {"view", "gui", "show"},
    {"visualize", "gui"},
    {"why", "explain"},
    {"word", "explain"},
});

std::string with_help(std::string_view name, std::span<const std::unique_ptr<Command>> commands) {
  for (const auto& command : commands) {
    if (command->name() == name) return fmt::format("'{}' ({})", name, command->help());
  }
  return fmt::format("'{}'", name);
}

}  // namespace

std::span<const OtherCommand> other_commands() {
  return k_others;
}

std::string hint_for_command(std::string_view name, std::span<const std::unique_ptr<Command>> commands) {
  const std::string wanted = in_lower_case(name);
  const auto meant = std::find_if(k_others.begin(), k_others.end(),
                                  [&](const OtherCommand& each) { return each.theirs == wanted; });
  if (meant != k_others.end()) {
    std::string hint = "did you mean " + with_help(meant->ours, commands);
    if (!meant->also.empty()) hint += " or " + with_help(meant->also, commands);
    return hint + "?";
  }
  std::vector<std::string> known;
  for (const auto& command : commands) known.emplace_back(command->name());
  return suggestion(name, known);
}

}  // namespace shardlab

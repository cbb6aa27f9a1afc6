// What people call commands that have another name here, for hints.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/cli/command.h"

namespace shardlab {

struct OtherCommand {
  std::string_view theirs;
  std::string_view ours;
  std::string_view also = {};  // a second one that may be meant; else empty
};
std::span<const OtherCommand> other_commands();

// "did you mean 'diff'? ...", by what the word means, else by how it is spelt.
std::string hint_for_command(std::string_view name, std::span<const std::unique_ptr<Command>> commands);

}  // namespace shardlab

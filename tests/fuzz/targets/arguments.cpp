// The command line, an argument a line: every command's options as its parser reads them. No command runs.
#include <algorithm>
#include <memory>

#include "engine/cli/command.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {

Answer read_arguments(std::string_view bytes) {
  std::vector<std::string> arguments;
  for (std::size_t begin = 0; begin <= bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
    arguments.emplace_back(bytes.substr(begin, end - begin));
    begin = end + 1;
  }
  const std::string name = arguments.front();
  arguments.erase(arguments.begin());
  for (const std::unique_ptr<Command>& command : make_commands()) {
    if (command->name() != name) continue;
    OptionParser parser("shardlab " + name, command->help(), command->details());
    CommonOptions options;
    command->add_options(parser);
    add_common_options(parser, command->uses(), options);
    const Result<bool> help = parser.parse(arguments);
    if (help && *help) promise(!parser.help().empty(), "a command has help");
    return answer_of(help);
  }
  return Answer::refused;
}

}  // namespace shardlab::fuzz

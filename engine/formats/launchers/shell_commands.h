// Shell scripts as commands of words, with places. A script is read, never executed: of the shell's language
// only what launch scripts are made of is understood (quotes, comments, continued lines, redirections,
// here-documents, NAME=value, $NAME with a default), and a word with anything else keeps it as it is written.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"

namespace shardlab {

struct ShellWord {
  std::string text;      // quotes removed, variables that the script sets replaced
  bool is_open = false;  // a variable or a command in it is not known
  Place place;
  bool is_placeholder = false;  // "<your folder>", which a shell takes for redirections
};

struct ShellCommand {
  std::vector<std::pair<std::string, ShellWord>> settings;  // NAME=value before the command, or alone
  std::vector<ShellWord> words;
  bool exports = false;  // its settings, and the variables that its words name
};

struct ShellScript {
  std::vector<ShellCommand> commands;
  std::vector<ShellWord> batch;                // words of #SBATCH lines
  std::map<std::string, ShellWord> variables;  // that it sets, as they are at its end
  std::map<std::string, ShellWord> documents;  // files that it writes from here-documents, by shell_path()
};

// An error where quotes do not end. Several thousand commands at most. `variables`: what is set before.
Result<ShellScript> parse_shell(std::string_view text, std::string_view name,
                                std::map<std::string, ShellWord> variables = {});

// The text with those of the variables in place that hold several words: a command that was put together.
// At most 64 KiB.
std::string with_commands(std::string text, const std::map<std::string, ShellWord>& variables);

// Whether it can be the name of a variable.
bool is_shell_name(std::string_view text);

// A path as it is written, with ${NAME} as $NAME and without a leading "./", for comparison.
std::string shell_path(std::string path);

// Whether a text is a script that starts ranks: it begins with #!, or a line of it with a launcher, after
// settings of variables or not.
bool is_launch_script(std::string_view text);

}  // namespace shardlab

#include "engine/formats/launchers/shell_commands.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/formats/launchers/shell_comments.h"
#include "engine/formats/launchers/shell_redirections.h"
#include "engine/formats/launchers/shell_words.h"

namespace shardlab {
namespace {

// The command that is read, until it ends.
struct OpenCommand {
  ShellCommand command;
  bool is_declaring = false;  // export, local ...
  std::string output;         // the file that it writes

  bool may_set() const { return command.words.empty(); }
};

struct OpenScript {
  ShellInput input;
  OpenCommand open;
  std::vector<HereDocument> announced;  // by the line
  ShellScript script;
};

// A value is what stands behind the sign, with += after the value so far.
ShellWord value_of(ShellInput& input, const ShellSetting& setting, const ShellWord& word) {
  ShellWord value{{}, word.is_open, word.place};
  if (setting.adds) {
    const ShellWord& before = input.variables[std::string(setting.name)];
    append(input, value, before.text);
    value.is_open = value.is_open || before.is_open;
  }
  append(input, value, setting.value);
  return value;
}

// A setting before the words of the command, a declaration, or a word of it.
void add_word(ShellInput& input, OpenCommand& open, ShellWord word) {
  static constexpr std::string_view k_declaring[] = {"export", "local", "readonly", "declare"};
  ++input.amount.words;
  if (open.may_set()) {
    if (const auto setting = as_setting(word)) {
      open.command.settings.emplace_back(setting->name, value_of(input, *setting, word));
      return;
    }
    const bool declares =
        std::find(std::begin(k_declaring), std::end(k_declaring), word.text) != std::end(k_declaring);
    if (declares || (open.is_declaring && word.text.starts_with('-'))) {
      static constexpr std::string_view k_exporting[] = {"export", "-x"};  // declare -x
      open.is_declaring = true;
      open.command.exports = open.command.exports || std::find(std::begin(k_exporting), std::end(k_exporting),
                                                               word.text) != std::end(k_exporting);
      return;
    }
  }
  open.command.words.push_back(std::move(word));
}

// Settings without a command are those of the script.
void finish_command(OpenScript& reading) {
  ShellCommand& command = reading.open.command;
  if (command.words.empty()) {
    for (const auto& [name, value] : command.settings) reading.input.variables[name] = value;
  }
  if (!command.words.empty() || !command.settings.empty())
    reading.script.commands.push_back(std::move(command));
  reading.open = {};
}

// The here-documents that the line announced. One that goes into a file is kept under its name.
void read_documents(OpenScript& reading) {
  for (const HereDocument& each : reading.announced) {
    ShellWord body = read_here_document(reading.input, each);
    if (!reading.open.output.empty())
      reading.script.documents[shell_path(reading.open.output)] = std::move(body);
  }
  reading.announced.clear();
}

// Whether the cursor stands right behind the sign of NAME=, whose value is still empty.
bool is_behind_sign(const OpenScript& reading) {
  const ShellCursor& cursor = reading.input.cursor;
  const ShellCommand& command = reading.open.command;
  return command.words.empty() && !command.settings.empty() && cursor.at > 0 &&
         cursor.text[cursor.at - 1] == '=' && command.settings.back().second.text.empty();
}

// NAME=( ...
bool begins_array(const OpenScript& reading) {
  return reading.input.cursor.is_at('(') && is_behind_sign(reading);
}

// A word of its own, or the value of NAME=.
void take_placeholder(OpenScript& reading) {
  const bool is_value = is_behind_sign(reading);
  ShellWord word = read_placeholder(reading.input);
  if (is_value)
    reading.open.command.settings.back().second = std::move(word);
  else
    add_word(reading.input, reading.open, std::move(word));
}

// What was read as a setting of NAME is the array of that name.
Status read_open_array(OpenScript& reading) {
  auto& settings = reading.open.command.settings;
  SHARDLAB_CHECK_OK(read_array(reading.input, settings.back().first));
  settings.pop_back();
  return {};
}

Status redirect(OpenScript& reading) {
  SHARDLAB_TRY(ShellRedirection redirection, read_redirection(reading.input, reading.open.may_set()));
  if (redirection.document) reading.announced.push_back(*std::move(redirection.document));
  if (redirection.output) reading.open.output = *std::move(redirection.output);
  return {};
}

// What stands at the cursor, whatever it is. At least one character is taken.
Status read_next(OpenScript& reading) {
  ShellCursor& cursor = reading.input.cursor;
  if (cursor.is_at('#')) {
    read_comment(reading.input, reading.script.batch);
  } else if (is_placeholder(cursor)) {
    take_placeholder(reading);
  } else if (is_redirection(cursor)) {
    return redirect(reading);
  } else if (begins_array(reading)) {
    return read_open_array(reading);
  } else if (cursor.is_at_one_of("\n;&|()")) {
    if (cursor.take() == '\n') read_documents(reading);
    finish_command(reading);
  } else if (cursor.is_at_space()) {
    cursor.take();
  } else if (cursor.is_at("\\\n")) {
    cursor.skip(2);
  } else {
    SHARDLAB_TRY(std::vector<ShellWord> words, read_words(reading.input, reading.open.may_set()));
    for (ShellWord& word : words) add_word(reading.input, reading.open, std::move(word));
  }
  return {};
}

}  // namespace

Result<ShellScript> parse_shell(std::string_view text, std::string_view name,
                                std::map<std::string, ShellWord> variables) {
  OpenScript reading;
  ShellInput& input = reading.input;
  input.cursor.text = text;
  input.cursor.name = name;
  input.variables = std::move(variables);
  while (!input.cursor.is_at_end()) {
    if (input.amount.has_too_many_words()) return too_many_words(input.cursor.place());
    SHARDLAB_CHECK_OK(read_next(reading));
  }
  if (input.amount.is_too_long) return word_too_long(input.cursor.place());
  finish_command(reading);
  reading.script.variables = std::move(input.variables);
  return std::move(reading.script);
}

}  // namespace shardlab

#include "engine/formats/launchers/launch_script.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "engine/base/nearest.h"
#include "engine/base/parse.h"
#include "engine/formats/foreign/known_keys.h"
#include "engine/formats/launchers/batch_options.h"
#include "engine/formats/launchers/shell_commands.h"
#include "engine/formats/launchers/srun_tasks.h"

namespace shardlab {
namespace {

bool is_flag(const KnownKey& key) {
  return key.types.size() == 1 && key.types.front().kind == KnownType::Kind::flag;
}

class LaunchReader {
 public:
  LaunchReader(LaunchScript& script, Problems& problems) : script_(script), problems_(problems) {}

  void read(const RankCommand& found) {
    const ShellCommand& command = found.command;
    script_.launcher = found.launcher;
    script_.program = found.program;
    script_.place = found.place();
    script_.options = foreign_map(script_.place);
    script_.arguments = foreign_map(script_.place);
    complain_of_placeholders(command);
    std::size_t i = found.first;
    if (found.launcher == RankStarter::own) return read_arguments(command.words, i);
    while (i < command.words.size() && command.words[i].text.starts_with("-"))
      i = read_option(command.words, i);
    if (i < command.words.size()) ++i;  // the program
    read_arguments(command.words, i);
  }

 private:
  void complain_of_placeholders(const ShellCommand& command) {
    for (const ShellWord& word : command.words) {
      if (word.is_placeholder)
        problems_.add(word.place,
                      fmt::format("{} is a placeholder: the shell takes it for a redirection", word.text),
                      "write what is meant in its place");
    }
  }

  std::size_t read_option(const std::vector<ShellWord>& words, std::size_t i) {
    const ShellWord& word = words[i];
    const std::size_t equals = word.text.find('=');
    std::string name = word.text.substr(0, equals);
    if (word.text == "--") return i + 1;  // options end here
    name.erase(0, name.starts_with("--") ? 2 : 1);
    name = option_name(std::move(name));
    if (name == "m") name = "module";
    const auto tool = known_keys(to_string(script_.launcher));
    const KnownKey* key = tool ? (*tool)->section("launch").find(name) : nullptr;
    if (key == nullptr && tool) key = abbreviated((*tool)->section("launch"), name);
    if (key != nullptr) name = key->name;
    if (key == nullptr) {
      if (!tool) return i + 1;
      const auto near = nearest_name(name, (*tool)->section("launch").names());
      problems_.add(
          word.place,
          fmt::format("{}: unknown option '{}'", to_string(script_.launcher), word.text.substr(0, equals)),
          near ? fmt::format("did you mean '--{}'?", *near) : "options of the program stand after its name",
          ErrorCode::unknown_key);
      return i + 1;
    }
    drop_first(script_.options, name, word.place);
    if (is_flag(*key) && equals == std::string::npos) {
      ForeignValue on = *json_scalar("true");
      on.place = word.place;
      script_.options.entries.push_back({name, word.place, std::move(on)});
      return i + 1;
    }
    if (equals != std::string::npos) {
      ShellWord rest = word;
      rest.text = word.text.substr(equals + 1);
      script_.options.entries.push_back({name, word.place, shell_value(rest)});
      return i + 1;
    }
    if (i + 1 >= words.size()) {
      problems_.add(word.place, fmt::format("--{} needs a value", name));
      return i + 1;
    }
    script_.options.entries.push_back({name, word.place, shell_value(words[i + 1])});
    return i + 2;
  }

  // --name value, --name=value, --name value value, --flag; words before them are the program's, and so are
  // those behind that a variable gives.
  void read_arguments(const std::vector<ShellWord>& words, std::size_t i) {
    for (; i < words.size(); ++i) {
      const ShellWord& word = words[i];
      if (!word.text.starts_with("--") || word.text.size() < 3) {
        script_.positions.push_back(shell_value(word));
        continue;
      }
      const std::size_t equals = word.text.find('=');
      const std::string name =
          option_name(word.text.substr(2, equals == std::string::npos ? equals : equals - 2));
      ForeignValue value = *json_scalar("true");
      value.place = word.place;
      if (equals != std::string::npos) {
        ShellWord rest = word;
        rest.text = word.text.substr(equals + 1);
        value = shell_value(rest);
      } else if (i + 1 < words.size() && !words[i + 1].text.starts_with("--")) {
        value = shell_value(words[++i]);
        i = read_more_values(words, i, value);
      }
      const ForeignValue* const first = script_.arguments.find(name);
      if (first != nullptr && shown(*first) == shown(value)) continue;
      drop_first(script_.arguments, name, word.place);
      script_.arguments.entries.push_back({name, word.place, std::move(value)});
    }
  }

  std::size_t read_more_values(const std::vector<ShellWord>& words, std::size_t i, ForeignValue& value) {
    while (i + 1 < words.size() && !words[i + 1].text.starts_with("-") && !words[i + 1].is_open) {
      if (!value.is_list()) {
        ForeignValue list;
        list.kind = ForeignValue::Kind::list;
        list.place = value.place;
        list.items.push_back(std::move(value));
        value = std::move(list);
      }
      value.items.push_back(shell_value(words[++i]));
    }
    return i;
  }

  // argparse takes the last of several.
  void drop_first(ForeignValue& map, const std::string& name, const Place& place) {
    const auto first = std::find_if(map.entries.begin(), map.entries.end(),
                                    [&](const ForeignEntry& entry) { return entry.key == name; });
    if (first == map.entries.end()) return;
    script_.warnings.push_back({place, fmt::format("--{} is given twice: the last one counts", name),
                                fmt::format("{} is at {}", shown(first->value), to_string(first->place))});
    map.entries.erase(first);
  }

  // argparse takes the beginning of one name for the name; accelerate launch does not.
  const KnownKey* abbreviated(const KnownSection& section, const std::string& name) const {
    if (script_.launcher == RankStarter::accelerate || name.size() < 2) return nullptr;
    const KnownKey* only = nullptr;
    for (const KnownKey& key : section.keys) {
      if (!key.name.starts_with(name)) continue;
      if (only != nullptr) return nullptr;
      only = &key;
    }
    return only;
  }

  LaunchScript& script_;
  Problems& problems_;
};

std::optional<std::int64_t> whole(const ForeignValue* value) {
  if (value == nullptr || !value->is_text()) return std::nullopt;
  const auto read = parse_integer(value->text);
  return read && *read > 0 && *read <= 1'000'000 ? std::optional(*read) : std::nullopt;
}

// "gpu:8", "gpu:h100:8".
std::optional<std::int64_t> generic_gpus(const ForeignValue* value) {
  if (value == nullptr || !value->text.starts_with("gpu")) return std::nullopt;
  const std::size_t colon = value->text.rfind(':');
  if (colon == std::string::npos) return 1;
  const auto read = parse_integer(std::string_view(value->text).substr(colon + 1));
  return read && *read > 0 ? std::optional(*read) : std::nullopt;
}

// The command in the line, or the only one.
Result<RankCommand> chosen_command(const std::vector<RankCommand>& commands, std::string_view name,
                                   std::optional<int> line) {
  if (commands.empty())
    return bad_input(in_file(std::string(name)), "starts no ranks",
                     "import knows torchrun, accelerate launch and deepspeed, alone or under srun, "
                     "llamafactory-cli, axolotl, swift and trl, and python with TrainingArguments");
  const auto in_line = std::find_if(commands.begin(), commands.end(), [&](const RankCommand& each) {
    return line && each.place().line == *line;
  });
  if (in_line != commands.end()) return *in_line;
  std::string lines;
  constexpr std::size_t k_most_lines = 5;
  for (const RankCommand& each : std::span(commands).first(std::min(commands.size(), k_most_lines)))
    lines += fmt::format("{}{}:{}", lines.empty() ? "" : ", ", name, each.place().line);
  if (commands.size() > k_most_lines) lines += fmt::format(" and {} more", commands.size() - k_most_lines);
  if (line)
    return bad_input(in_file(std::string(name), *line, 1), "no ranks are started in this line",
                     "they are in " + lines);
  if (commands.size() > 1)
    return bad_input(commands[1].place(), "starts ranks a second time",
                     "a case has one training, and its line says which: one of " + lines);
  return commands.front();
}

// Names of $NAME and ${NAME...} in the text.
std::set<std::string> used_names(std::string_view text) {
  std::set<std::string> names;
  for (std::size_t at = text.find('$'); at != std::string_view::npos; at = text.find('$', at)) {
    at += at + 1 < text.size() && text[at + 1] == '{' ? 2 : 1;
    std::size_t end = at;
    while (end < text.size() && is_shell_name(text.substr(at, end + 1 - at))) ++end;
    if (end > at) names.emplace(text.substr(at, end - at));
  }
  return names;
}

// set -a: what is set from here on is exported.
bool exports_all(const ShellCommand& command) {
  static constexpr std::string_view k_set = "set", k_long = "allexport";
  if (command.words.empty() || k_set.compare(command.words.front().text) != 0) return false;
  return std::any_of(command.words.begin() + 1, command.words.end(), [](const ShellWord& word) {
    return word.text == k_long || (word.text.starts_with('-') && word.text.find('a') != std::string::npos);
  });
}

void read_setting_lines(const ShellScript& shell, std::string_view text, const RankCommand& chosen,
                        LaunchScript& script) {
  script.used = used_names(text);
  bool all = false;
  for (const ShellCommand& command : shell.commands) {
    all = all || exports_all(command);
    const bool starts = !command.words.empty() && command.words.front().place == chosen.before.front().place;
    const bool exports = starts || command.exports || all;
    for (const auto& [variable, word] : command.settings) {
      if (!command.words.empty() && !starts && !command.exports) continue;
      script.environment.emplace_back(variable, shell_value(word));
      if (exports) script.exported.insert(variable);
    }
    for (const ShellWord& word : command.words) {
      if (command.exports) script.exported.insert(word.text);
    }
  }
}

std::optional<std::int64_t> environment_number(const LaunchScript& script, std::string_view name) {
  std::optional<std::int64_t> number;
  for (const auto& [variable, value] : script.environment) {
    if (variable == name && !value.flag) number = whole(&value);
  }
  return number;
}

// "0,1,2,3" of CUDA_VISIBLE_DEVICES.
std::optional<std::int64_t> visible_devices(const LaunchScript& script) {
  std::optional<std::int64_t> count;
  for (const auto& [variable, value] : script.environment) {
    static constexpr std::string_view k_visible[] = {"CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES"};
    if (std::find(std::begin(k_visible), std::end(k_visible), variable) == std::end(k_visible)) continue;
    if (!value.flag && !value.text.empty()) count = 1 + std::count(value.text.begin(), value.text.end(), ',');
  }
  return count;
}

bool starts_one_a_device(const LaunchScript& script) {
  static constexpr std::string_view k_programs[] = {"llamafactory-cli", "axolotl"};
  return std::find(std::begin(k_programs), std::end(k_programs), script.program) != std::end(k_programs);
}

// ms-swift starts one rank unless NPROC_PER_NODE is set, LLaMA-Factory and Axolotl one a device, TRL what
// accelerate's default file says.
ImportedRanks own_ranks(const LaunchScript& script) {
  ImportedRanks ranks;
  ranks.nodes = environment_number(script, "NNODES");
  ranks.per_node = environment_number(script, "NPROC_PER_NODE");
  static constexpr std::string_view k_python = "python", k_swift = "swift";
  if (k_python.compare(script.program) == 0) ranks.per_node = 1;
  const bool is_said = std::any_of(script.environment.begin(), script.environment.end(),
                                   [](const auto& each) { return each.first == "NPROC_PER_NODE"; });
  if (is_said || ranks.per_node) return ranks;
  if (k_swift.compare(script.program) == 0) ranks.per_node = 1;
  if (starts_one_a_device(script)) ranks.per_node = visible_devices(script);
  return ranks;
}

}  // namespace

Result<LaunchScript> parse_launch_script(std::string_view text, std::string_view name,
                                         std::optional<int> line, Problems& problems) {
  SHARDLAB_TRY(const ShellScript shell, parse_shell(text, name));
  LaunchScript script;
  script.batch = foreign_map(in_file(std::string(name)));
  script.is_batch = !shell.batch.empty();
  script.documents = shell.documents;
  read_batch_options(shell.batch, script.batch, problems);
  SHARDLAB_TRY(const RankCommand chosen, chosen_command(rank_commands(shell, name), name, line));
  LaunchReader(script, problems).read(chosen);
  read_setting_lines(shell, text, chosen, script);
  warn_of_tasks(chosen, script);
  return script;
}

std::optional<ForeignValue> python_number(std::string_view word, bool whole) {
  std::string text(word);
  if (text.starts_with('+')) text.erase(0, 1);
  text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  if (text.size() > sign && text[sign] == '.') text.insert(sign, "0");
  const std::size_t point = text.find('.');
  const bool is_bare = point != std::string::npos &&
                       (point + 1 == text.size() || text[point + 1] == 'e' || text[point + 1] == 'E');
  if (is_bare) text.insert(point + 1, "0");
  while (text.size() > sign + 1 && text[sign] == '0' && text[sign + 1] >= '0' && text[sign + 1] <= '9')
    text.erase(sign, 1);
  auto value = json_scalar(text);
  if (!value || !value->is_number() || (whole && value->kind != ForeignValue::Kind::integer))
    return std::nullopt;
  value->text = word;
  return value;
}

ImportedRanks launched_ranks(const LaunchScript& script) {
  ImportedRanks ranks;
  const auto batch = [&](const char* key) { return script.batch.find(key); };
  const auto option = [&](const char* key) { return script.options.find(key); };
  ranks.nodes = whole(batch("nodes"));
  if (script.launcher == RankStarter::own) {
    const ImportedRanks own = own_ranks(script);
    ranks.per_node = own.per_node;
    if (own.nodes) ranks.nodes = own.nodes;
    if (!script.is_batch || !starts_one_a_device(script) || ranks.per_node) return ranks;
  }
  ranks.per_node = whole(batch("gpus_per_node"));
  if (!ranks.per_node) ranks.per_node = generic_gpus(batch("gres"));
  if (script.launcher == RankStarter::torchrun) {
    if (const auto nodes = whole(option("nnodes"))) ranks.nodes = nodes;
    if (const auto count = whole(option("nproc_per_node"))) ranks.per_node = count;
    if (option("nproc_per_node") == nullptr) ranks.per_node = 1;
  } else if (script.launcher == RankStarter::deepspeed) {
    if (const auto nodes = whole(option("num_nodes"))) ranks.nodes = nodes;
    if (const auto count = whole(option("num_gpus"))) ranks.per_node = count;
    if (const auto count = whole(option("num_accelerators"))) ranks.per_node = count;
  }
  return ranks;
}

}  // namespace shardlab

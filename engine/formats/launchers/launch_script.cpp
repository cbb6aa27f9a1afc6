#include "engine/formats/launchers/launch_script.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "engine/base/nearest.h"
#include "engine/base/parse.h"
#include "engine/formats/foreign/known_keys.h"
#include "engine/formats/launchers/batch_options.h"
#include "engine/formats/launchers/shell_commands.h"

namespace shardlab {
namespace {

std::string program_name(const std::string& text) {
  return text.substr(text.rfind('/') + 1);
}

// Where the launcher's own options begin, and which it is.
struct Found {
  RankStarter launcher;
  std::size_t first;
};

std::optional<Found> find_launcher(const ShellCommand& command) {
  const auto& words = command.words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string name = program_name(words[i].text);
    static constexpr std::string_view k_launch = "launch", k_module = "-m";
    const auto next = [&](std::size_t n) { return i + n < words.size() ? words[i + n].text : std::string(); };
    if (parse_word<RankStarter>(name) == RankStarter::torchrun) return Found{RankStarter::torchrun, i + 1};
    if (parse_word<RankStarter>(name) == RankStarter::accelerate && k_launch.compare(next(1)) == 0)
      return Found{RankStarter::accelerate, i + 2};
    if (parse_word<RankStarter>(name) == RankStarter::deepspeed) return Found{RankStarter::deepspeed, i + 1};
    if (k_module.compare(words[i].text) != 0) continue;
    const std::string module = next(1);
    if (module == "torch.distributed.run" || module == "torch.distributed.launch")
      return Found{RankStarter::torchrun, i + 2};
    if (module == "accelerate.commands.launch") return Found{RankStarter::accelerate, i + 2};
    if (module == "deepspeed.launcher.runner") return Found{RankStarter::deepspeed, i + 2};
  }
  return std::nullopt;
}

// bash -c "torchrun ...": a command in a text, whose words stand where the text does.
std::vector<ShellCommand> commands_inside(const ShellCommand& command, const ShellScript& shell,
                                          std::string_view name) {
  std::vector<ShellCommand> inside;
  for (const ShellWord& word : command.words) {
    if (word.text.find(' ') == std::string::npos && word.text.find('$') == std::string::npos) continue;
    auto nested = parse_shell(with_commands(word.text, shell.variables), name, shell.variables);
    if (!nested) continue;
    for (ShellCommand& each : nested->commands) {
      for (ShellWord& part : each.words) part.place = word.place;
      inside.push_back(std::move(each));
    }
  }
  return inside;
}

bool is_flag(const KnownKey& key) {
  return key.types.size() == 1 && key.types.front().kind == KnownType::Kind::flag;
}

class LaunchReader {
 public:
  LaunchReader(LaunchScript& script, Problems& problems) : script_(script), problems_(problems) {}

  void read(const ShellCommand& command, const Found& found) {
    script_.launcher = found.launcher;
    script_.place = command.words[found.first - 1].place;
    script_.options = foreign_map(script_.place);
    script_.arguments = foreign_map(script_.place);
    std::size_t i = found.first;
    while (i < command.words.size() && command.words[i].text.starts_with("-"))
      i = read_option(command.words, i);
    if (i < command.words.size()) ++i;  // the program
    read_arguments(command.words, i);
  }

 private:
  std::size_t read_option(const std::vector<ShellWord>& words, std::size_t i) {
    const ShellWord& word = words[i];
    const std::size_t equals = word.text.find('=');
    std::string name = word.text.substr(0, equals);
    name.erase(0, name.starts_with("--") ? 2 : 1);
    name = option_name(std::move(name));
    if (name == "m") name = "module";
    const auto tool = known_keys(to_string(script_.launcher));
    const KnownKey* const key = tool ? (*tool)->section("launch").find(name) : nullptr;
    if (key == nullptr) {
      if (!tool) return i + 1;
      const auto near = nearest_name(name, (*tool)->section("launch").names());
      problems_.add(
          word.place,
          fmt::format("{}: unknown option '{}'", to_string(script_.launcher), word.text.substr(0, equals)),
          near ? fmt::format("did you mean '--{}'?", *near) : "options of the program stand after its name");
      return i + 1;
    }
    if (script_.options.find(name) != nullptr)
      problems_.add(word.place, fmt::format("--{} is given twice", name),
                    "first given at " + to_string(script_.options.find(name)->place));
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

  // --name value, --name=value, --flag; other words are the program's.
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
      }
      const ForeignValue* const first = script_.arguments.find(name);
      if (first != nullptr && shown(*first) == shown(value)) continue;
      if (first != nullptr && name.find('.') == std::string::npos)
        problems_.add(word.place, fmt::format("--{} is given twice", name),
                      "first given at " + to_string(first->place));
      else
        script_.arguments.entries.push_back({name, word.place, std::move(value)});
    }
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

}  // namespace

Result<LaunchScript> parse_launch_script(std::string_view text, std::string_view name, Problems& problems) {
  SHARDLAB_TRY(const ShellScript shell, parse_shell(text, name));
  LaunchScript script;
  script.batch = foreign_map(in_file(std::string(name)));
  script.is_batch = !shell.batch.empty();
  read_batch_options(shell.batch, script.batch, problems);
  bool found_one = false;
  const auto read_command = [&](const ShellCommand& command) {
    const auto found = find_launcher(command);
    if (!found) return false;
    if (found_one) {
      problems.add(command.words[found->first - 1].place, "starts ranks a second time",
                   "a case has one training: give the others scripts of their own");
      return true;
    }
    found_one = true;
    LaunchReader(script, problems).read(command, *found);
    return true;
  };
  for (const ShellCommand& command : shell.commands) {
    const bool starts = read_command(command);
    for (const auto& [variable, word] : command.settings) {
      if (command.words.empty() || starts) script.environment.emplace_back(variable, shell_value(word));
    }
    if (starts) continue;
    for (const ShellCommand& inside : commands_inside(command, shell, name)) read_command(inside);
  }
  if (!found_one)
    return bad_input(in_file(std::string(name)), "starts no ranks",
                     "import knows torchrun, accelerate launch and deepspeed, alone or under srun");
  return script;
}

ImportedRanks launched_ranks(const LaunchScript& script) {
  ImportedRanks ranks;
  const auto batch = [&](const char* key) { return script.batch.find(key); };
  const auto option = [&](const char* key) { return script.options.find(key); };
  ranks.nodes = whole(batch("nodes"));
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

#include "engine/formats/launchers/rank_commands.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace shardlab {
namespace {

std::string program_name(const std::string& text) {
  return text.substr(text.rfind('/') + 1);
}

// Programs that start their ranks themselves, by the word that stands after their name.
constexpr std::pair<std::string_view, std::string_view> k_own[] = {{"llamafactory-cli", "train"},
                                                                   {"axolotl", "train"},
                                                                   {"swift", "sft"},
                                                                   {"swift", "pt"},
                                                                   {"swift", "rlhf"},
                                                                   {"trl", "sft"},
                                                                   {"trl", "dpo"},
                                                                   {"trl", "grpo"},
                                                                   {"trl", "rloo"},
                                                                   {"trl", "kto"},
                                                                   {"trl", "reward"}};

constexpr std::string_view k_single = "python";

struct Found {
  RankStarter launcher;
  std::size_t first;
  std::string program;
};

std::optional<Found> of_module(const std::string& module, std::size_t i) {
  if (module == "torch.distributed.run" || module == "torch.distributed.launch")
    return Found{RankStarter::torchrun, i + 2, {}};
  if (module == "accelerate.commands.launch") return Found{RankStarter::accelerate, i + 2, {}};
  if (module == "deepspeed.launcher.runner") return Found{RankStarter::deepspeed, i + 2, {}};
  return std::nullopt;
}

std::optional<Found> find_launcher(const ShellCommand& command) {
  const auto& words = command.words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string name = program_name(words[i].text);
    static constexpr std::string_view k_launch = "launch", k_module = "-m";
    const std::string next = i + 1 < words.size() ? words[i + 1].text : std::string();
    const auto launcher = parse_word<RankStarter>(name);
    if (launcher == RankStarter::torchrun || launcher == RankStarter::deepspeed)
      return Found{*launcher, i + 1, {}};
    if (launcher == RankStarter::accelerate && k_launch.compare(next) == 0)
      return Found{*launcher, i + 2, {}};
    for (const auto& [program, verb] : k_own) {
      if (program.compare(name) == 0 && verb.compare(next) == 0)
        return Found{RankStarter::own, i + 2, std::string(program)};
    }
    if (k_module.compare(words[i].text) != 0) continue;
    if (auto found = of_module(next, i)) return found;
  }
  return std::nullopt;
}

// python train.py --per_device_train_batch_size ...: one rank.
std::optional<Found> find_single(const ShellCommand& command) {
  const auto& words = command.words;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (!program_name(words[i].text).starts_with("python")) continue;
    std::size_t program = i + 1;
    while (program + 1 < words.size() && words[program].text.starts_with("-")) ++program;
    const bool trains = std::any_of(
        words.begin() + static_cast<std::ptrdiff_t>(program), words.end(),
        [](const ShellWord& word) { return word.text.starts_with("--per_device_train_batch_size"); });
    if (trains) return Found{RankStarter::own, program + 1, std::string(k_single)};
  }
  return std::nullopt;
}

bool prints(const ShellCommand& command) {
  static constexpr std::string_view k_printing[] = {"echo", "printf"};
  return !command.words.empty() && std::find(std::begin(k_printing), std::end(k_printing),
                                             command.words.front().text) != std::end(k_printing);
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

bool same_words(const ShellCommand& a, const ShellCommand& b) {
  return std::equal(a.words.begin(), a.words.end(), b.words.begin(), b.words.end(),
                    [](const ShellWord& one, const ShellWord& other) { return one.text == other.text; });
}

class CommandFinder {
 public:
  CommandFinder(const ShellScript& shell, std::string_view name) : shell_(shell), name_(name) {}

  std::vector<RankCommand> find() {
    for (const ShellCommand& command : shell_.commands) {
      if (prints(command) || add(command, find_launcher(command))) continue;
      for (const ShellCommand& inside : commands_inside(command, shell_, name_)) {
        if (!prints(inside)) add(inside, find_launcher(inside), command.words);
      }
    }
    for (const ShellCommand& command : shell_.commands) {
      if (!launched_) add(command, find_single(command));
    }
    return std::move(found_);
  }

 private:
  // `around`: the words of the command in which this one is a text.
  bool add(const ShellCommand& command, const std::optional<Found>& found,
           std::vector<ShellWord> around = {}) {
    if (!found) return false;
    launched_ = launched_ || k_single.compare(found->program) != 0;
    const bool is_known = std::any_of(found_.begin(), found_.end(), [&](const RankCommand& known) {
      return same_words(known.command, command);
    });
    if (is_known) return true;
    const auto& words = command.words;
    around.insert(around.end(), words.begin(), words.begin() + static_cast<std::ptrdiff_t>(found->first));
    found_.push_back({command, found->launcher, found->program, found->first, std::move(around)});
    return true;
  }

  const ShellScript& shell_;
  std::string_view name_;
  std::vector<RankCommand> found_;
  bool launched_ = false;
};

}  // namespace

std::vector<RankCommand> rank_commands(const ShellScript& shell, std::string_view name) {
  return CommandFinder(shell, name).find();
}

}  // namespace shardlab

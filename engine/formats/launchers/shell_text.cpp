#include <algorithm>
#include <cctype>
#include <set>

#include "engine/formats/launchers/shell_commands.h"

namespace shardlab {
namespace {

constexpr std::size_t k_longest_text = 64 * 1024;

// The line from its first word that is no NAME=value.
std::string_view without_settings(std::string_view line) {
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    const std::size_t equals = line.find('=');
    if (equals >= end || !is_shell_name(line.substr(0, equals))) return line;
    line.remove_prefix(end);
  }
}

}  // namespace

bool is_shell_name(std::string_view text) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::all_of(text.begin(), text.end(), fits);
}

std::string with_commands(std::string text, const std::map<std::string, ShellWord>& variables) {
  constexpr int k_most_rounds = 4;
  std::set<std::string> used;  // a variable may hold its own name
  for (int round = 0; round < k_most_rounds; ++round) {
    bool changed = false;
    for (const auto& [name, value] : variables) {
      if (value.text.find(' ') == std::string::npos || value.text.starts_with("$(")) continue;
      for (const std::string& written : {"${" + name + "}", "$" + name}) {
        const std::size_t at = text.find(written);
        if (at == std::string::npos || text.size() + value.text.size() > k_longest_text) continue;
        const std::size_t end = at + written.size();
        const bool goes_on = end < text.size() &&
                             (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_');
        if (goes_on && written.back() != '}') continue;
        if (!used.insert(name).second) break;
        text.replace(at, written.size(), value.text);
        changed = true;
      }
    }
    if (!changed) break;
  }
  return text;
}

std::string shell_path(std::string path) {
  for (std::size_t at = path.find("${"); at != std::string::npos; at = path.find("${", at)) {
    const std::size_t end = path.find('}', at);
    if (end == std::string::npos) break;
    path.erase(end, 1);
    path.erase(at + 1, 1);
  }
  return path.starts_with("./") ? path.substr(2) : path;
}

bool is_launch_script(std::string_view text) {
  if (text.starts_with("#!")) return true;
  static constexpr std::string_view k_starts[] = {"torchrun ",
                                                  "srun ",
                                                  "accelerate launch",
                                                  "deepspeed ",
                                                  "exec torchrun",
                                                  "llamafactory-cli ",
                                                  "swift sft",
                                                  "swift pt",
                                                  "trl ",
                                                  "python -m torch.distributed",
                                                  "python3 -m torch.distributed",
                                                  "python -m accelerate.commands",
                                                  "#SBATCH"};
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = without_settings(text.substr(0, end));
    for (const std::string_view start : k_starts) {
      if (line.starts_with(start)) return true;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

}  // namespace shardlab

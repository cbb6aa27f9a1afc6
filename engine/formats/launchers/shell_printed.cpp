#include "engine/formats/launchers/shell_printed.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "engine/formats/launchers/shell_arithmetic.h"

namespace shardlab {
namespace {

constexpr int k_most_commands = 4;  // in one another

// Without the spaces around it, and the quotes.
std::string_view bare(std::string_view text) {
  static constexpr std::string_view k_spaces = " \t\n";
  const std::size_t first = text.find_first_not_of(k_spaces);
  if (first == std::string_view::npos) return {};
  text = text.substr(first, text.find_last_not_of(k_spaces) - first + 1);
  const bool is_quoted = text.size() > 1 && (text.front() == '"' || text.front() == '\'');
  return is_quoted && text.back() == text.front() ? text.substr(1, text.size() - 2) : text;
}

bool is_script(std::string_view word) {
  static constexpr std::string_view k_names[] = {"$0",
                                                 "${0}",
                                                 "$BASH_SOURCE",
                                                 "${BASH_SOURCE}",
                                                 "${BASH_SOURCE[0]}",
                                                 "${BASH_SOURCE:-$0}",
                                                 "${BASH_SOURCE[0]:-$0}"};
  return std::find(std::begin(k_names), std::end(k_names), word) != std::end(k_names);
}

std::string folder_of_script(const ShellInput& input) {
  const std::string folder = std::filesystem::path(input.cursor.name).parent_path().string();
  return folder.empty() ? "." : folder;
}

// A value is one where the shell would put it in; `\*` is the sign that expr multiplies by.
std::optional<std::string> computed(const ShellInput& input, std::string_view expression) {
  std::string signs(expression);
  std::erase(signs, '\\');
  const auto value_of = [&](std::string_view name) {
    const auto known = input.variables.find(std::string(name));
    return known == input.variables.end() || known->second.is_open ? std::string() : known->second.text;
  };
  const auto value = shell_arithmetic(signs, value_of);
  return value ? std::optional(std::to_string(*value)) : std::nullopt;
}

std::optional<std::string> printed_at_depth(const ShellInput& input, std::string_view command, int depth);

// "$(dirname "$0")/.." as the folder that it is.
std::optional<std::string> folder(const ShellInput& input, std::string_view text, int depth) {
  text = bare(text);
  if (!text.starts_with("$(")) return std::nullopt;
  const std::size_t end = text.rfind(')');
  if (end == std::string_view::npos) return std::nullopt;
  const auto inner = printed_at_depth(input, text.substr(2, end - 2), depth + 1);
  const std::string_view rest = text.substr(end + 1);
  const bool is_path = rest.empty() || rest.front() == '/';
  if (!inner || !is_path || rest.find_first_of("$`\" ") != std::string_view::npos) return std::nullopt;
  return *inner + std::string(rest);
}

std::optional<std::string> printed_at_depth(const ShellInput& input, std::string_view command, int depth) {
  static constexpr std::string_view k_here = "pwd", k_compute = "expr ", k_part = "dirname ", k_go = "cd ";
  command = bare(command);
  if (depth > k_most_commands) return std::nullopt;
  if (command == k_here) return ".";
  if (command.starts_with(k_compute)) return computed(input, command.substr(k_compute.size()));
  if (command.starts_with(k_part)) {
    std::string_view of = bare(command.substr(k_part.size()));
    if (of.starts_with("-- ")) of = bare(of.substr(3));
    return is_script(of) ? std::optional(folder_of_script(input)) : std::nullopt;
  }
  const std::size_t both = command.rfind("&&");
  const bool goes =
      command.starts_with(k_go) && both != std::string_view::npos && bare(command.substr(both + 2)) == k_here;
  if (!goes) return std::nullopt;
  std::string_view to = bare(command.substr(k_go.size(), both - k_go.size()));
  if (to.starts_with("-- ")) to = bare(to.substr(3));
  return folder(input, to, depth);
}

}  // namespace

std::optional<std::string> printed(const ShellInput& input, std::string_view command) {
  return printed_at_depth(input, command, 0);
}

}  // namespace shardlab

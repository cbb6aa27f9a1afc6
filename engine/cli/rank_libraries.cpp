#include "engine/cli/rank_libraries.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include <fmt/format.h>

#include "engine/base/input_file.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_variable = "SHARDLAB_TORCH_DIR";

// '2.11.0' of the line __version__ = '2.11.0+cu130'; empty when torch does not say.
std::string version_of(const fs::path& torch) {
  constexpr std::string_view k_start = "__version__ = '";
  constexpr FileKind k_version_file{"version of torch", std::int64_t{64} << 10};
  std::istringstream text(read_input_file(torch / "version.py", k_version_file).value_or(""));
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with(k_start)) continue;
    const std::string version = line.substr(k_start.size());
    return version.substr(0, version.find_first_of("+'"));
  }
  return {};
}

std::string in_single_quotes(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::string_view torch_version() {
  return SHARDLAB_TORCH_VERSION;
}

std::string library_path_of(const fs::path& torch) {
  const fs::path libraries = (torch / "lib").lexically_normal();
  // The pip packages of CUDA lie beside torch; the program for GPUs loads the runtime itself.
  const fs::path cuda = libraries.parent_path().parent_path() / "nvidia" / "cu13" / "lib";
  std::error_code ignored;
  if (!fs::is_directory(cuda, ignored)) return libraries.string();
  return fmt::format("{}:{}", libraries.string(), cuda.string());
}

Status take_libtorch_of_environment() {
  const char* given = std::getenv(k_variable);
  if (given == nullptr || *given == '\0') return {};
  const fs::path torch = fs::absolute(given);
  std::error_code ignored;
  if (!fs::exists(torch / "lib" / "libtorch_cpu.so", ignored)) {
    return bad_input(k_variable, fmt::format("there is no lib/libtorch_cpu.so in {}", torch.string()),
                     "it names the folder that python3 -c 'import torch; print(torch.__path__[0])' prints");
  }
  const std::string version = version_of(torch);
  if (!version.empty() && version != torch_version()) {
    return bad_input(k_variable, fmt::format("{} holds torch {}, and this program was made for {}",
                                             torch.string(), version, torch_version()));
  }
  std::string path = library_path_of(torch);
  const char* before = std::getenv("LD_LIBRARY_PATH");
  if (before != nullptr && *before != '\0') path += std::string(":") + before;
  ::setenv("LD_LIBRARY_PATH", path.c_str(), 1);
  return {};
}

std::vector<std::string> not_found_in(std::string_view answer) {
  std::vector<std::string> names;
  std::istringstream lines{std::string(answer)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t arrow = line.find(" => not found");
    const std::size_t begin = line.find_first_not_of(" \t");
    if (arrow != std::string::npos && begin < arrow) names.push_back(line.substr(begin, arrow - begin));
  }
  return names;
}

Result<std::vector<std::string>> missing_libraries(const fs::path& program) {
  const std::string command =
      "LD_TRACE_LOADED_OBJECTS=1 exec " + in_single_quotes(program.string()) + " 2>/dev/null";
  std::FILE* loader = ::popen(command.c_str(), "re");
  if (loader == nullptr) return not_possible(in_file(program.string()), "its loader could not be started");
  std::string answer;
  char buffer[4096];
  for (std::size_t count; (count = std::fread(buffer, 1, sizeof buffer, loader)) > 0;)
    answer.append(buffer, count);
  ::pclose(loader);
  return not_found_in(answer);
}

}  // namespace shardlab

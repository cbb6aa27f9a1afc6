#include "engine/machine/machine_texts.h"

#include <algorithm>
#include <array>

#include "engine/base/input_file.h"
#include "engine/base/output_file.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;
using namespace machine_text;

constexpr FileKind k_machine_text{"text of a machine", std::int64_t{1} << 20};
constexpr auto k_names = std::to_array<std::string_view>(
    {k_hostname, k_environment, k_interfaces, k_host_addresses, k_head, k_shared_memory, k_limits, k_memory,
     k_memory_limit, k_memory_used, k_listening, k_modules, k_fabric, k_gpus, k_gpu_processes, k_topology,
     k_peer_access, k_driver, k_packages});

Result<MachineTexts> texts_in(const fs::path& folder) {
  MachineTexts texts;
  for (const std::string_view name : k_names) {
    std::error_code ignored;
    if (!fs::exists(folder / name, ignored)) continue;
    SHARDLAB_TRY(texts[std::string(name)], read_input_file(folder / name, k_machine_text));
  }
  return texts;
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->is_directory(error)) folders.push_back(at->path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

}  // namespace

Result<std::vector<RecordedMachine>> read_machines(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return bad_input(in_file(folder.string()), "is no folder");
  std::vector<RecordedMachine> machines;
  const auto add = [&](const fs::path& place) -> Status {
    SHARDLAB_TRY(MachineTexts texts, texts_in(place));
    if (!texts.empty()) machines.push_back({place.string(), std::move(texts)});
    return {};
  };
  for (const fs::path& place : folders_in(folder)) SHARDLAB_CHECK_OK(add(place));
  if (machines.empty()) SHARDLAB_CHECK_OK(add(folder));
  if (machines.empty())
    return bad_input(in_file(folder.string()), "holds no record of a machine",
                     "`shardlab doctor --machine --record FOLDER` makes one");
  return machines;
}

Status write_machine(const MachineTexts& texts, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return not_possible(in_file(folder.string()), "cannot be made: " + error.message());
  for (const auto& [name, text] : texts) {
    if (name != k_hostname) SHARDLAB_CHECK_OK(write_output_file(folder / name, text));
  }
  const auto host = texts.find(k_hostname);
  return write_output_file(folder / k_hostname, host == texts.end() ? "" : host->second);
}

}  // namespace shardlab

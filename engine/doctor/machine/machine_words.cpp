#include "engine/doctor/machine/machine_words.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/base/text/log_lines.h"
#include "engine/doctor/machine/machine_evidence.h"
#include "engine/doctor/machine/machine_questions.h"

namespace shardlab {
namespace {

std::string gpu_words(const MachineFacts& machine) {
  if (!machine.says_gpus) return "no driver of NVIDIA";
  if (machine.gpus.empty()) return "no GPU";
  return fmt::format("{} x {}", machine.gpus.size(), machine.gpus.front().name);
}

std::string driver_words(const MachineFacts& machine) {
  if (machine.driver.empty()) return {};
  return fmt::format("driver {} (CUDA {})", machine.driver, machine.driver_cuda);
}

// What a package is called where its version is worth a word; empty: it is not.
std::string_view told_as(std::string_view package) {
  constexpr auto k_told =
      std::to_array<std::string_view>({"torch", "transformers", "accelerate", "deepspeed"});
  if (package.starts_with("nvidia-nccl")) return "NCCL";
  return std::find(k_told.begin(), k_told.end(), package) == k_told.end() ? std::string_view() : package;
}

std::string package_words(const MachineFacts& machine) {
  std::string words;
  for (const auto& [name, version] : machine.packages) {
    const std::string_view called = told_as(name);
    if (!called.empty()) words += fmt::format("{}{} {}", words.empty() ? "" : ", ", called, version);
  }
  return words;
}

std::string fabric_words(const MachineFacts& machine) {
  const std::vector<FabricPort> ports = active_ports(machine);
  if (ports.empty()) return {};
  std::set<double> rates;
  for (const FabricPort& port : ports) rates.insert(port.gigabits);
  return fmt::format("{} active port{} of {} Gb/s", ports.size(), ports.size() == 1 ? "" : "s",
                     fmt::join(rates, ", "));
}

std::string shared_memory_words(const MachineFacts& machine) {
  return machine.shared_memory ? "/dev/shm " + to_string(*machine.shared_memory) : std::string();
}

std::string description(const MachineFacts& machine) {
  std::vector<std::string> parts = {gpu_words(machine), driver_words(machine), package_words(machine),
                                    fabric_words(machine), shared_memory_words(machine)};
  std::erase(parts, "");
  return fmt::format("{}", fmt::join(parts, ", "));
}

struct Kind {
  std::string first, description;
  std::size_t others = 0;
};

}  // namespace

std::string words_of(const std::vector<MachineFacts>& machines) {
  constexpr std::size_t k_shown = 3;
  std::vector<Kind> kinds;
  for (const MachineFacts& machine : machines) {
    const std::string words = description(machine);
    const auto known =
        std::find_if(kinds.begin(), kinds.end(), [&](const Kind& kind) { return kind.description == words; });
    if (known == kinds.end())
      kinds.push_back({name_of(machine), words, 0});
    else
      ++known->others;
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(kinds.size(), k_shown); ++i) {
    const Kind& kind = kinds[i];
    const std::string others =
        kind.others == 0 ? "" : fmt::format(" and {} other{}", kind.others, kind.others == 1 ? "" : "s");
    text += fmt::format("{}{}{}: {}.", text.empty() ? "" : " ", kind.first, others, kind.description);
  }
  if (kinds.size() > k_shown) text += fmt::format(" {} more kinds of machines.", kinds.size() - k_shown);
  return readable(text, 2000);
}

}  // namespace shardlab

#include "engine/execute/machine.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "engine/base/version.h"

namespace shardlab {
namespace {

std::string processor_model() {
  std::ifstream stream("/proc/cpuinfo");
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

}  // namespace

std::string processor_description() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const int usable = ::sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
  return fmt::format("{}, {} of {} threads", processor_model(), usable, std::thread::hardware_concurrency());
}

std::string host_identity() {
  utsname system{};
  ::uname(&system);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return fmt::format("{} {}", system.nodename, boot);
}

std::map<std::string, std::string> software_versions() {
  utsname system{};
  ::uname(&system);
  return {{"shardlab", std::string(program_version())},
          {"compiler", __VERSION__},
          {"kernel", fmt::format("{} {}", system.sysname, system.release)}};
}

}  // namespace shardlab

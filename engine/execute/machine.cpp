#include "engine/execute/machine.h"

#include <array>
#include <chrono>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <netdb.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

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

namespace {

// A datagram socket that is connected knows its own address; no datagram is needed for that.
std::string own_address(const addrinfo& peer) {
  const int descriptor = ::socket(peer.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return {};
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  std::array<char, NI_MAXHOST> text{};
  auto* const address = reinterpret_cast<sockaddr*>(&own);
  const bool known = ::connect(descriptor, peer.ai_addr, peer.ai_addrlen) == 0 &&
                     ::getsockname(descriptor, address, &size) == 0 &&
                     ::getnameinfo(address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0;
  ::close(descriptor);
  return known ? text.data() : "";
}

}  // namespace

std::string own_address_towards(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return {};
  std::string address;
  for (const addrinfo* peer = found; peer != nullptr && address.empty(); peer = peer->ai_next)
    address = own_address(*peer);
  ::freeaddrinfo(found);
  return address;
}

Nanoseconds monotonic_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()};
}

}  // namespace shardlab

#include "engine/machine/gather_network.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "engine/machine/kernel_file.h"
#include "engine/machine/text_lines.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

// Nothing for a family without addresses of the internet.
std::string numeric_address(const sockaddr* address) {
  if (address == nullptr || (address->sa_family != AF_INET && address->sa_family != AF_INET6)) return {};
  const socklen_t size = address->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  std::array<char, NI_MAXHOST> text{};
  if (getnameinfo(address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) return {};
  return text.data();
}

std::string port_line(const std::string& device, const fs::path& port) {
  const std::string state = kernel_file(port / "state"), rate = kernel_file(port / "rate");
  const auto states = words_in(state), rates = words_in(rate);
  return fmt::format(
      "{} {} {} {} {}\n", device, port.filename().string(), states.empty() ? "?" : std::string(states.back()),
      trimmed(kernel_file(port / "link_layer")), rates.empty() ? "0" : std::string(rates.front()));
}

std::set<fs::path> entries_of(const fs::path& folder) {
  std::set<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    entries.insert(at->path());
  return entries;
}

}  // namespace

std::string interfaces_text() {
  ifaddrs* found = nullptr;
  if (getifaddrs(&found) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> all(found, &freeifaddrs);
  std::map<std::string, std::string> lines;
  for (const ifaddrs* at = found; at != nullptr; at = at->ifa_next) {
    const bool runs = (at->ifa_flags & IFF_UP) != 0 && (at->ifa_flags & IFF_RUNNING) != 0;
    std::string& line = lines.try_emplace(at->ifa_name, runs ? "UP" : "DOWN").first->second;
    const std::string address = numeric_address(at->ifa_addr);
    if (!address.empty()) line += " " + address.substr(0, address.find('%'));
  }
  std::string text;
  for (const auto& [name, line] : lines) text += name + " " + line + "\n";
  return text;
}

std::string addresses_text(const std::string& host) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (host.empty() || getaddrinfo(host.c_str(), nullptr, &wanted, &found) != 0) return {};
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(found, &freeaddrinfo);
  std::string text;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next)
    text += numeric_address(at->ai_addr) + "\n";
  return text;
}

std::string fabric_text() {
  std::string text;
  for (const fs::path& device : entries_of("/sys/class/infiniband")) {
    for (const fs::path& port : entries_of(device / "ports"))
      text += port_line(device.filename().string(), port);
  }
  return text;
}

}  // namespace shardlab

#include "engine/execute/own_address.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace shardlab {
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

}  // namespace shardlab

#include "engine/machine/head_contact.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace shardlab {
namespace {

Contact contact_of(int error) {
  if (error == 0) return Contact::connected;
  if (error == ECONNREFUSED) return Contact::refused;
  return error == ETIMEDOUT || error == EINPROGRESS ? Contact::timed_out : Contact::unreachable;
}

// The error of a connection that may still be under way.
int error_of(int socket, std::chrono::milliseconds patience) {
  pollfd waited{socket, POLLOUT, 0};
  if (poll(&waited, 1, static_cast<int>(patience.count())) != 1) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof(error);
  return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

Contact contact_address(const addrinfo& address, std::chrono::milliseconds patience) {
  const int socket =
      ::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, address.ai_protocol);
  if (socket < 0) return Contact::unreachable;
  int error = connect(socket, address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) error = error_of(socket, patience);
  close(socket);
  return contact_of(error);
}

}  // namespace

Contact contact_head(const std::string& host, int port, std::chrono::milliseconds patience) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found) != 0)
    return Contact::unknown_name;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(found, &freeaddrinfo);
  Contact best = Contact::unknown_name;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    best = std::min(best, contact_address(*at, patience));
    if (best == Contact::connected) break;
  }
  return best;
}

}  // namespace shardlab

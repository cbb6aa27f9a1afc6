#include "engine/execute/meeting/stream_socket.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include <fmt/format.h>

namespace shardlab {
namespace {

using Clock = StreamSocket::Clock;
using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

tl::unexpected<Error> socket_failed(const std::string& what) {
  return run_failed({}, what);
}

Result<Addresses> addresses_of(const char* host, int port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host, std::to_string(port).c_str(), &hints, &found);
  if (failed != 0) return socket_failed(::gai_strerror(failed));
  return Addresses(found, &::freeaddrinfo);
}

// Whether something can be read or written before the deadline; interrupted waits go on.
bool ready(int descriptor, short events, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left < 0) return false;
    pollfd waited{descriptor, events, 0};
    const int count = ::poll(&waited, 1, static_cast<int>(std::min<std::int64_t>(left + 1, 60'000)));
    if (count > 0) return true;
    if (count < 0 && errno != EINTR) return false;
  }
}

Result<StreamSocket> listen_on(const addrinfo& address) {
  StreamSocket socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1, off = 0;
  if (socket.is_open()) {
    ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address.ai_family == AF_INET6)
      ::setsockopt(socket.descriptor(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (::bind(socket.descriptor(), address.ai_addr, address.ai_addrlen) == 0 &&
        ::listen(socket.descriptor(), SOMAXCONN) == 0)
      return socket;
  }
  return socket_failed(std::strerror(errno));
}

bool is_loopback(const addrinfo& address) {
  if (address.ai_family == AF_INET6) {
    const auto& number = reinterpret_cast<const sockaddr_in6*>(address.ai_addr)->sin6_addr;
    return std::memcmp(&number, &in6addr_loopback, sizeof number) == 0;
  }
  return ntohl(reinterpret_cast<const sockaddr_in*>(address.ai_addr)->sin_addr.s_addr) >> 24 == 127;
}

Result<StreamSocket> listen_on_any(int port) {
  Error last{ErrorKind::run_failed, {}, "no address", {}};
  for (const char* any : {"::", "0.0.0.0"}) {
    SHARDLAB_TRY(const Addresses addresses, addresses_of(any, port, AI_NUMERICHOST));
    auto socket = listen_on(*addresses);
    if (socket) return socket;
    last = socket.error();
  }
  return fail(last);
}

Result<StreamSocket> connect_by(const addrinfo& address, Clock::time_point deadline) {
  StreamSocket socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return socket_failed(std::strerror(errno));
  const int descriptor = socket.descriptor();
  if (::connect(descriptor, address.ai_addr, address.ai_addrlen) != 0 && errno != EINPROGRESS)
    return socket_failed(std::strerror(errno));
  if (!ready(descriptor, POLLOUT, deadline)) return socket_failed("no answer");
  int failed = 0;
  socklen_t size = sizeof failed;
  ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failed, &size);
  if (failed != 0) return socket_failed(std::strerror(failed));
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

}  // namespace

StreamSocket& StreamSocket::operator=(StreamSocket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

StreamSocket::~StreamSocket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<StreamSocket> StreamSocket::listen_at(const std::string& host, int port) {
  const char* number = host == "localhost" ? "127.0.0.1" : host.c_str();
  const auto addresses = addresses_of(number, port, AI_NUMERICHOST);
  if (!addresses) return listen_on_any(port);
  auto socket = listen_on(**addresses);
  // Between machines there may be one that translates addresses, so that the number is not this machine's.
  if (!socket && !is_loopback(**addresses)) return listen_on_any(port);
  return socket;
}

Result<StreamSocket> StreamSocket::connect_to(const std::string& host, int port, Clock::time_point deadline) {
  SHARDLAB_TRY(const Addresses addresses, addresses_of(host.c_str(), port, 0));
  Error last{ErrorKind::run_failed, {}, "no address", {}};
  for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
    auto socket = connect_by(*address, deadline);
    if (socket) return socket;
    last = socket.error();
  }
  return fail(last);
}

StreamSocket StreamSocket::accept() const {
  StreamSocket socket(::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  const int on = 1;
  if (socket.is_open()) ::setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

int StreamSocket::port() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

Status StreamSocket::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      ready(descriptor_, POLLOUT, Clock::now() + std::chrono::seconds(60));
    } else if (errno != EINTR) {
      return socket_failed(std::strerror(errno));
    }
  }
  return {};
}

Result<std::string> StreamSocket::receive(std::size_t count, Clock::time_point deadline) const {
  std::string bytes;
  std::array<char, 65536> part{};
  while (bytes.size() < count) {
    if (!ready(descriptor_, POLLIN, deadline)) return socket_failed("no answer in time");
    const ssize_t got = ::recv(descriptor_, part.data(), std::min(part.size(), count - bytes.size()), 0);
    if (got == 0) return socket_failed("the other side closed the connection");
    if (got < 0 && errno != EAGAIN && errno != EINTR) return socket_failed(std::strerror(errno));
    if (got > 0) bytes.append(part.data(), static_cast<std::size_t>(got));
  }
  return bytes;
}

Result<MeetingMessage> StreamSocket::receive_message(Clock::time_point deadline) const {
  SHARDLAB_TRY(const std::string front, receive(sizeof(MessageLength), deadline));
  MessageLength length = 0;
  std::memcpy(&length, front.data(), sizeof length);
  if (length > k_longest_message) return socket_failed("a message that is too long");
  SHARDLAB_TRY(const std::string body, receive(length, deadline));
  auto message = parse_message(body);
  if (!message) return socket_failed("bytes that are no message");
  return *std::move(message);
}

void StreamSocket::shut_down() const {
  ::shutdown(descriptor_, SHUT_RDWR);
}

}  // namespace shardlab

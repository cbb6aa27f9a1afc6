#include "engine/execute/meeting/doorkeeper.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace shardlab {
namespace {

constexpr std::string_view k_hello = "shardlab";
constexpr std::size_t k_greeting_length = k_hello.size() + 1 + RunSecret::k_longest;

std::string_view secret_in(std::string_view greeting) {
  const auto length = static_cast<unsigned char>(greeting[k_hello.size()]);
  return greeting.substr(k_hello.size() + 1, length);
}

}  // namespace

std::string meeting_greeting(const RunSecret& secret) {
  std::string greeting(k_hello);
  greeting += static_cast<char>(static_cast<unsigned char>(secret.reveal().size()));
  greeting += secret.reveal();
  greeting.resize(k_greeting_length, '\0');
  return greeting;
}

void Doorkeeper::add(StreamSocket visitor, Clock::time_point now) {
  if (visitors_.size() >= k_most) visitors_.pop_front();
  visitors_.push_back({std::move(visitor), now, {}});
}

void Doorkeeper::watch(std::vector<pollfd>& waited) const {
  for (const Visitor& visitor : visitors_) waited.push_back({visitor.socket.descriptor(), POLLIN, 0});
}

std::vector<StreamSocket> Doorkeeper::admit(Clock::time_point now) {
  std::vector<StreamSocket> admitted;
  for (auto visitor = visitors_.begin(); visitor != visitors_.end();) {
    const Verdict verdict = listen_to(*visitor);
    if (verdict == Verdict::welcome) admitted.push_back(std::move(visitor->socket));
    const bool stays = verdict == Verdict::unknown && now - visitor->came < k_patience;
    visitor = stays ? std::next(visitor) : visitors_.erase(visitor);
  }
  return admitted;
}

Doorkeeper::Verdict Doorkeeper::listen_to(Visitor& visitor) {
  std::array<char, k_greeting_length> part{};
  const ssize_t got =
      ::recv(visitor.socket.descriptor(), part.data(), k_greeting_length - visitor.said.size(), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR ? Verdict::unknown : Verdict::gone;
  if (got == 0) return Verdict::gone;
  visitor.said.append(part.data(), static_cast<std::size_t>(got));
  const std::string_view hello = k_hello.substr(0, visitor.said.size());
  if (!visitor.said.starts_with(hello)) return Verdict::gone;
  return visitor.said.size() < k_greeting_length ? Verdict::unknown : judge(visitor);
}

// One byte always finds room in a new connection, so that nobody waits here.
Doorkeeper::Verdict Doorkeeper::judge(const Visitor& visitor) {
  const bool knows = secret_.is(secret_in(visitor.said));
  if (!knows) ++refused_;
  const char answer = knows ? k_welcome : k_another_secret;
  const ssize_t sent = ::send(visitor.socket.descriptor(), &answer, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  return knows && sent == 1 ? Verdict::welcome : Verdict::gone;
}

}  // namespace shardlab

#include "engine/execute/meeting/run_secret.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace shardlab {
namespace {

constexpr const char* k_secret_variable = "SHARDLAB_RUN_SECRET";

bool is_visible(char c) {
  return c > ' ' && c <= '~';
}

std::string what_is_wrong_with(std::string_view text) {
  if (text.size() < RunSecret::k_shortest || text.size() > RunSecret::k_longest)
    return fmt::format("has {} characters, not {} to {}", text.size(), RunSecret::k_shortest,
                       RunSecret::k_longest);
  if (std::all_of(text.begin(), text.end(), is_visible)) return {};
  return "has characters other than visible ASCII";
}

}  // namespace

Result<RunSecret> RunSecret::make() {
  std::array<unsigned char, 16> bytes{};
  ssize_t got = -1;
  do {
    got = ::getrandom(bytes.data(), bytes.size(), 0);
  } while (got < 0 && errno == EINTR);
  // So few bytes come all at once or not at all.
  if (got != static_cast<ssize_t>(bytes.size()))
    return not_possible("getrandom", fmt::format("no random numbers: {}", std::strerror(errno)));
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return RunSecret(std::move(text));
}

Result<RunSecret> RunSecret::parse(std::string text, const std::string& name) {
  const std::string wrong = what_is_wrong_with(text);
  if (wrong.empty()) return RunSecret(std::move(text));
  return bad_input(name, wrong, "make one for each run, the same for all its ranks: openssl rand -hex 16");
}

bool RunSecret::is(std::string_view text) const {
  if (text.size() != text_.size()) return false;
  unsigned differences = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    differences |= static_cast<unsigned char>(text[i]) ^ static_cast<unsigned char>(text_[i]);
  return differences == 0;
}

Result<std::optional<RunSecret>> secret_of_user(const EnvironmentVariables& variables) {
  const auto found = variables.find(k_secret_variable);
  if (found == variables.end() || found->second.empty()) return std::optional<RunSecret>();
  SHARDLAB_TRY(RunSecret secret, RunSecret::parse(found->second, k_secret_variable));
  return std::optional<RunSecret>(std::move(secret));
}

}  // namespace shardlab

#include "engine/machine/network_texts.h"

#include <algorithm>
#include <charconv>

#include "engine/base/parse.h"
#include "engine/machine/text_lines.h"

namespace shardlab {
namespace {

int port_in(std::string_view word) {
  const auto number = parse_integer(word);
  return number && *number >= 0 && *number <= 65535 ? static_cast<int>(*number) : 0;
}

}  // namespace

std::vector<NetworkInterface> interfaces_of(std::string_view text) {
  std::vector<NetworkInterface> interfaces;
  for (const std::string_view line : lines_of(text)) {
    const auto words = words_in(line);
    if (words.size() < 2) continue;
    NetworkInterface& made = interfaces.emplace_back();
    made.name = words[0].substr(0, words[0].find('@'));
    made.is_up = words[1] == "UP" || words[1] == "UNKNOWN";
    for (std::size_t i = 2; i < words.size(); ++i)
      made.addresses.emplace_back(words[i].substr(0, words[i].find('/')));
  }
  return interfaces;
}

std::vector<FabricPort> fabric_of(std::string_view text) {
  std::vector<FabricPort> ports;
  for (const std::string_view line : lines_of(text)) {
    const auto words = words_in(line);
    if (words.size() < 5) continue;
    const auto gigabits = parse_number(words[4]);
    ports.push_back({std::string(words[0]), port_in(words[1]), std::string(words[2]), std::string(words[3]),
                     gigabits ? *gigabits : 0});
  }
  return ports;
}

std::vector<int> listening_of(std::string_view text) {
  constexpr std::string_view k_listens = "0A";
  std::vector<int> ports;
  for (const std::string_view line : lines_of(text)) {
    const auto words = words_in(line);
    if (words.size() < 4 || words[3] != k_listens) continue;
    const std::string_view digits = words[1].substr(std::min(words[1].size(), words[1].find(':') + 1));
    int port = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port, 16);
    if (error == std::errc() && end == digits.data() + digits.size()) ports.push_back(port);
  }
  std::sort(ports.begin(), ports.end());
  ports.erase(std::unique(ports.begin(), ports.end()), ports.end());
  return ports;
}

std::optional<HeadContact> head_of(std::string_view text) {
  const auto words = words_in(text);
  const auto what = words.size() < 3 ? std::nullopt : parse_word<Contact>(words[2]);
  if (!what) return std::nullopt;
  return HeadContact{std::string(words[0]), port_in(words[1]), *what};
}

}  // namespace shardlab

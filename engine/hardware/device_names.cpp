#include "engine/hardware/device_names.h"

#include <string>
#include <vector>

namespace shardlab {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == ' ' || c == '-') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

}  // namespace

bool is_device_called(std::string_view name, std::string_view reported) {
  const std::string wanted(name.substr(0, name.find('-')));
  const std::vector<std::string> words = words_of(reported);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == wanted || (i + 1 < words.size() && words[i] + words[i + 1] == wanted)) return true;
  }
  return false;
}

}  // namespace shardlab

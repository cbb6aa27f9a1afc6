#include "engine/lessons/typed_settings.h"

#include <cctype>

namespace shardlab::lessons {

std::vector<std::string> typed_settings(std::string_view typed) {
  std::vector<std::string> settings(1);
  int depth = 0;
  char quote = 0;
  for (const char c : typed) {
    if (quote != 0)
      quote = c == quote ? 0 : quote;
    else if (c == '"' || c == '\'')
      quote = c;
    else
      depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    if (std::isspace(static_cast<unsigned char>(c)) != 0 && depth <= 0 && quote == 0)
      settings.emplace_back();
    else
      settings.back() += c;
  }
  std::erase(settings, "");
  return settings;
}

}  // namespace shardlab::lessons

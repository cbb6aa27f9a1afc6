#include "tests/plans/key_cases.h"

#include <fstream>

#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab::test {
namespace {

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = text.find(separator, begin);
    std::string part = text.substr(begin, end == std::string::npos ? end : end - begin);
    const std::size_t first = part.find_first_not_of(' '), last = part.find_last_not_of(' ');
    parts.push_back(first == std::string::npos ? "" : part.substr(first, last - first + 1));
    if (end == std::string::npos) return parts;
    begin = end + separator.size();
  }
}

}  // namespace

std::vector<KeyCase> key_cases() {
  std::vector<KeyCase> all;
  std::ifstream file(data_file("plans/every_key.txt"));
  for (std::string text; std::getline(file, text);) {
    if (text.empty() || text[0] == '#') continue;
    const std::vector<std::string> columns = split(text, "|");
    if (columns.size() != 4) FAIL(text);
    KeyCase line;
    line.key = columns[0];
    if (!columns[1].empty()) line.settings = split(columns[1], ";");
    line.changed = line.settings;
    line.changed.push_back(columns[2]);
    line.effect = columns[3].substr(0, columns[3].find(':'));
    if (line.effect != columns[3]) line.words = columns[3].substr(line.effect.size() + 2);
    all.push_back(std::move(line));
  }
  return all;
}

}  // namespace shardlab::test

// The files of tests/data/doctor: blocks of `=== head | source` and the lines of a log.
#pragma once

#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "engine/doctor/examine.h"
#include "engine/doctor/log/log_reader.h"
#include "engine/doctor/registry.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab::test {

struct LogBlock {
  std::vector<std::string> head;  // words before the bar
  std::string source;             // after it
  std::string text;
};

inline std::vector<LogBlock> log_blocks(const std::string& file) {
  std::ifstream stream(data_file("doctor/" + file));
  REQUIRE(stream);
  std::vector<LogBlock> blocks;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("=== ")) {
      const std::size_t bar = line.find(" | ");
      REQUIRE(bar != std::string::npos);
      std::istringstream words(line.substr(4, bar - 4));
      blocks.push_back({{std::istream_iterator<std::string>(words), {}}, line.substr(bar + 3), ""});
    } else {
      REQUIRE_FALSE(blocks.empty());
      blocks.back().text += line + "\n";
    }
  }
  REQUIRE_FALSE(blocks.empty());
  return blocks;
}

inline Examination examine_text(const std::string& text) {
  const LogFacts facts = read_log(text, all_signs());
  Case read;
  read.source = "log";
  read.log = &facts;
  return examine(read, all_rules());
}

inline const Finding* finding_of_rule(const Examination& examination, std::string_view rule) {
  for (const Finding& finding : examination.findings) {
    if (finding.rule == rule) return &finding;
  }
  return nullptr;
}

// Changes that a terminal, a collector of logs or a broken disk makes.
inline std::string mutated(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  const std::size_t changes = 1 + below(6);
  for (std::size_t i = 0; i < changes && !text.empty(); ++i) {
    const std::size_t at = below(text.size());
    switch (below(9)) {
      case 0: text[at] = static_cast<char>(below(256)); break;
      case 1: text.insert(at, "\x1b[31m"); break;
      case 2: text.insert(at, "\r 47%|####    | 12/99 [00:01<00:09]"); break;
      case 3: text.insert(at, "\xff\xc3"); break;
      case 4: text.erase(at, 1 + below(40)); break;
      case 5: text.insert(at, std::string(below(70000), 'z')); break;
      case 6: text.insert(at, "99999999999999999999999999"); break;
      case 7: text.insert(at, std::string(1 + below(3), '\0')); break;
      default: text += text.substr(at); break;
    }
  }
  return text;
}

}  // namespace shardlab::test

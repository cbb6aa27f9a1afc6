// The files of tests/data/doctor: blocks of `=== head | source` and the lines of a log.
#pragma once

#include <fstream>
#include <iterator>
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

}  // namespace shardlab::test

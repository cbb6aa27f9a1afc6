// What each key of a scenario does: the lines of tests/data/plans/every_key.txt, which says how they are
// written.
#pragma once

#include <string>
#include <vector>

namespace shardlab::test {

struct KeyCase {
  std::string key;
  std::vector<std::string> settings, changed;  // without and with the change
  std::string effect;                          // planned, refused, run, text
  std::string words;                           // of the message
};

std::vector<KeyCase> key_cases();

}  // namespace shardlab::test

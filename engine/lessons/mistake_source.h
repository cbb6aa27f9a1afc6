// Where somebody made a mistake, as a lesson names it: "a thread's title, https://...".
#pragma once

#include <string>

namespace shardlab::lessons {

struct MistakeSource {
  std::string title;    // without an address of its own it is the address
  std::string address;  // empty: none
};

inline MistakeSource mistake_source(const std::string& source) {
  const std::size_t at = source.find("https://");
  if (at == std::string::npos) return {source, {}};
  MistakeSource read{source.substr(0, at), source.substr(at)};
  read.title.resize(read.title.find_last_not_of(" :,") + 1);
  if (read.title.empty()) read.title = read.address;
  return read;
}

}  // namespace shardlab::lessons

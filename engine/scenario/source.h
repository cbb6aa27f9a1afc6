// Where in a scenario file, or in which --set option, each key was given. Kept beside the Scenario so that
// every later complaint about a value can name its place.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace shardlab {

class ScenarioSource {
 public:
  // `file` is what a complaint names when nothing better is known.
  explicit ScenarioSource(std::string file = {}) : file_(std::move(file)) {}

  void record(std::string key, std::string where) {
    places_.insert_or_assign(std::move(key), std::move(where));
  }

  // Whether the dotted key ("parallel.mesh.shard") was written, not defaulted.
  bool given(std::string_view key) const { return places_.find(key) != places_.end(); }

  // `file:line:column` or `--set key=value` of the key, else of the innermost section around it that was
  // written, else the file.
  std::string where(std::string_view key) const;

  const std::string& file() const { return file_; }

 private:
  std::string file_;
  std::map<std::string, std::string, std::less<>> places_;
};

}  // namespace shardlab

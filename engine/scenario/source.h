// Where in a scenario file, or in which --set option, each key was given. Kept beside the Scenario so that
// every later complaint about a value can name its place.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/result.h"
#include "engine/base/yaml.h"

namespace shardlab {

class ScenarioSource {
 public:
  // `file` is what a complaint names when nothing better is known.
  explicit ScenarioSource(std::string file = {}) : file_(std::move(file)) {}

  void record(std::string key, Place place) { places_.insert_or_assign(std::move(key), std::move(place)); }

  // Whether the dotted key ("parallel.mesh.shard") was written, not defaulted.
  bool given(std::string_view key) const { return places_.find(key) != places_.end(); }

  // The key as a place for complaints: it was given in a line of the file or in a `--set key=value`, else the
  // innermost section around it was, else only the file is known. The place is named by the key.
  Place place(std::string_view key) const;

  // The same as text for people, without the key: `file:line:column` or `--set key=value`.
  std::string where(std::string_view key) const;

  const std::string& file() const { return file_; }

 private:
  std::string file_;
  std::map<std::string, Place, std::less<>> places_;
};

// --set key=value: replaces values in the tree of a scenario before it is read.

// `assignment` is key=value with a dotted key; the value is YAML ("8", "[a, b]", "{policy: none}"). Sections
// that are missing are made. Keys are checked later, by whoever reads the tree: what the override put there
// has the place `--set key=value`. A text of another form, or a key below one that has a value, is bad_input.
Status apply_override(YamlNode& root, std::string_view assignment);

}  // namespace shardlab

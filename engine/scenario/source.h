// Where in a scenario file, or in which --set option, each key was given. Kept beside the Scenario so that
// every later complaint about a value can name its place.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/yaml.h"

namespace shardlab {

// A comment of the file that is addressed to the doctor: `# doctor: ignore E-16`.
struct DoctorComment {
  std::string text;  // behind the colon
  int line = 0;
  // In whose line it stands, or right above which; empty: above all keys; absent: at none.
  std::optional<std::string> key;
};

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

  // By dotted key; what was defaulted has none.
  const std::map<std::string, Place, std::less<>>& places() const { return places_; }

  // Those of the file (comments/doctor_comments.h), or of the one that this scenario was written anew from.
  const std::vector<DoctorComment>& comments() const { return comments_; }
  void keep_comments(std::vector<DoctorComment> comments) { comments_ = std::move(comments); }

 private:
  std::string file_;
  std::map<std::string, Place, std::less<>> places_;
  std::vector<DoctorComment> comments_;
};

// --set key=value: replaces values in the tree of a scenario before it is read.

// `assignment` is key=value with a dotted key; the value is YAML ("8", "[a, b]", "{policy: none}"). Sections
// that are missing are made. Keys are checked later, by whoever reads the tree: what the override put there
// has the place `--set key=value`. A text of another form, or a key below one that has a value, is bad_input.
Status apply_override(YamlNode& root, std::string_view assignment);

}  // namespace shardlab

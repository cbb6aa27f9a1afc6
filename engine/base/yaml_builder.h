// Makes a YamlNode of yaml-cpp's events. Internal to parse_yaml.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "engine/base/yaml.h"

namespace shardlab {

// Thrown through yaml-cpp's parser and caught in parse_yaml.
struct YamlRefused {
  Error error;
};

// What values take, with all that is inside of them.
struct YamlSize {
  std::size_t nodes = 0;
  std::size_t bytes = 0;  // of their texts
  std::size_t depth = 0;  // how many lists and maps are nested, one in the other
  // Beside each other.
  YamlSize& operator+=(YamlSize other) {
    nodes += other.nodes;
    bytes += other.bytes;
    depth = std::max(depth, other.depth);
    return *this;
  }
};

class YamlBuilder final : public YAML::EventHandler {
 public:
  YamlBuilder(std::string_view name, bool whole_place) : name_(name), whole_place_(whole_place) {}

  YamlNode take_root() { return std::move(root_); }

  // Line and column in `name`, or the name alone.
  Place place(const YAML::Mark& mark) const;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override;
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override;
  void OnMapEnd() override { close(); }

 private:
  // A sequence or map that is being read.
  struct Open {
    YamlNode node;
    YAML::anchor_t anchor = 0;
    YamlSize inside;
    std::optional<YamlEntry> entry;  // of a map: the key has been read, the value not yet
    std::set<std::string> keys;
  };
  struct Anchored {
    YamlNode node;
    YamlSize size;
  };

  // Refuses a document that costs more than any of ours.
  void spend(YamlSize size, const Place& where,
             const char* complaint = "too many values for a file of this kind");
  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind);
  void close();
  // A node is complete: remember it under its anchor and hand it to the container around it.
  void finish(YamlNode node, YAML::anchor_t anchor, YamlSize inside = {});
  void hand_over(YamlNode node, YamlSize size);
  void begin_entry(Open& parent, const YamlNode& key);

  std::string name_;
  bool whole_place_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Anchored> anchored_;
  YamlSize spent_;
  YamlNode root_;
};

}  // namespace shardlab

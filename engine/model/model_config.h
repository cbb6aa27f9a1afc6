// A Hugging Face config.json as typed look-ups.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/base/result.h"

namespace shardlab {

class ModelConfig {
 public:
  // `file` is only used in messages. `overrides` replace or add fields; their values are JSON text, a bare
  // word counts as a string.
  static Result<ModelConfig> parse(std::string_view text, std::string file,
                                   const std::map<std::string, std::string>& overrides);
  static Result<ModelConfig> read(const std::filesystem::path& file,
                                  const std::map<std::string, std::string>& overrides);

  const std::string& file() const { return file_; }
  std::string text() const;  // JSON, overrides included

  // After a family has read the configuration: an override that it never asked for is an error with the
  // nearest field it knows.
  Status check_overrides_were_read() const;
  bool has(const std::string& key) const;      // present and not null
  bool is_null(const std::string& key) const;  // present, and null

  // A required positive integer.
  Result<std::int64_t> integer(const std::string& key) const;
  // A required count of layers; more than any model has is an error, for it would only exhaust memory.
  Result<std::int64_t> layers(const std::string& key, std::optional<std::int64_t> fallback = {}) const;
  // Optional ones with the default of the transformers configuration class.
  Result<std::int64_t> integer_or(const std::string& key, std::int64_t fallback) const;
  Result<std::int64_t> count_or(const std::string& key, std::int64_t fallback) const;  // from 0
  Result<double> number_or(const std::string& key, double fallback) const;
  Result<bool> boolean_or(const std::string& key, bool fallback) const;
  Result<std::string> text_or(const std::string& key, std::string fallback) const;

  // The most tokens of a sequence that the model is made for, by whichever name its family says it; nothing
  // where the file does not.
  std::optional<std::int64_t> longest_sequence() const;

  // Lists; an empty one when absent.
  Result<std::vector<std::string>> texts(const std::string& key) const;
  Result<std::vector<std::int64_t>> indices(const std::string& key) const;  // integers from 0

  // A nested object as a config of its own; an empty one when absent.
  Result<ModelConfig> object_or_empty(const std::string& key) const;

 private:
  ModelConfig(nlohmann::json root, std::string file);
  // A field that has() said is there.
  const nlohmann::json& at(const std::string& key) const;

  std::shared_ptr<const nlohmann::json> root_;  // an object; shared by copies
  std::string file_;
  std::vector<std::string> overridden_;
  // Fields that were looked up, shared by copies: reading a configuration is const for everybody else.
  std::shared_ptr<std::set<std::string>> read_ = std::make_shared<std::set<std::string>>();
};

}  // namespace shardlab

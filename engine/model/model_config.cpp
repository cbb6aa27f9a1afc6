#include "engine/model/model_config.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/base/input_file.h"
#include "engine/base/json_depth.h"
#include "engine/base/nearest.h"

namespace shardlab {
namespace {

nlohmann::json override_value(const std::string& text) {
  nlohmann::json value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_discarded() || is_json_too_deep(text) ? nlohmann::json(text) : value;
}

tl::unexpected<Error> wrong_type(const std::string& file, const std::string& key, const std::string& expected,
                                 const nlohmann::json& found) {
  return bad_input(in_file(file), key + ": expected " + expected + ", found " + found.dump());
}

}  // namespace

ModelConfig::ModelConfig(nlohmann::json root, std::string file)
    : root_(std::make_shared<const nlohmann::json>(std::move(root))), file_(std::move(file)) {}

const nlohmann::json& ModelConfig::at(const std::string& key) const {
  return *root_->find(key);
}

Result<ModelConfig> ModelConfig::parse(std::string_view text, std::string file,
                                       const std::map<std::string, std::string>& overrides) {
  nlohmann::json root;
  try {
    root = nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    const std::string_view words =
        error.what();  // "[json.exception.parse_error.101] parse error at line 1 ..."
    return bad_input(
        in_file(file),
        "not valid JSON: " + std::string(words.substr(std::min(words.size(), words.find("] ") + 2))));
  }
  if (is_json_too_deep(text)) return bad_input(in_file(file), "lists and objects are nested too deeply");
  if (!root.is_object()) return bad_input(in_file(file), "a model configuration is a JSON object");
  for (const auto& [key, value] : overrides) root[key] = override_value(value);
  ModelConfig config(std::move(root), std::move(file));
  for (const auto& [key, value] : overrides) config.overridden_.push_back(key);
  return config;
}

Result<ModelConfig> ModelConfig::read(const std::filesystem::path& file,
                                      const std::map<std::string, std::string>& overrides) {
  Result<std::string> text = read_input_file(file, k_model_config_file);
  if (!text) {
    text.error().hint = "model.config is a name in assets/models or the path of a config.json";
    return fail(std::move(text).error());
  }
  return parse(*text, file.string(), overrides);
}

Status ModelConfig::check_overrides_were_read() const {
  for (const std::string& key : overridden_) {
    if (read_->contains(key)) continue;
    const std::vector<std::string> known(read_->begin(), read_->end());
    return bad_input("model.overrides." + key,
                     "no field of this model's family decides anything by that name", suggestion(key, known));
  }
  return {};
}

std::string ModelConfig::text() const {
  return root_->dump();
}

bool ModelConfig::has(const std::string& key) const {
  read_->insert(key);
  return root_->contains(key) && !at(key).is_null();
}

bool ModelConfig::is_null(const std::string& key) const {
  read_->insert(key);
  return root_->contains(key) && at(key).is_null();
}

Result<std::int64_t> ModelConfig::integer(const std::string& key) const {
  if (!has(key)) return bad_input(in_file(file_), key + ": missing");
  return integer_or(key, 0);
}

Result<std::int64_t> ModelConfig::layers(const std::string& key, std::optional<std::int64_t> fallback) const {
  constexpr std::int64_t k_most = 10'000;
  auto count = fallback ? integer_or(key, *fallback) : integer(key);
  if (!count || *count <= k_most) return count;
  return bad_input(in_file(file_),
                   key + ": " + std::to_string(*count) + " layers are more than any model has",
                   "at most " + std::to_string(k_most));
}

Result<std::int64_t> ModelConfig::integer_or(const std::string& key, std::int64_t fallback) const {
  if (!has(key)) return fallback;
  const nlohmann::json& value = at(key);
  constexpr std::int64_t largest = std::int64_t{1} << 31;
  if (!value.is_number_integer() || value.get<double>() < 1 ||
      value.get<double>() > static_cast<double>(largest)) {
    return wrong_type(file_, key, "an integer from 1 to 2147483648", value);
  }
  return value.get<std::int64_t>();
}

Result<std::int64_t> ModelConfig::count_or(const std::string& key, std::int64_t fallback) const {
  if (has(key) && at(key) == 0) return 0;
  return integer_or(key, fallback);
}

Result<double> ModelConfig::number_or(const std::string& key, double fallback) const {
  if (!has(key)) return fallback;
  if (!at(key).is_number()) return wrong_type(file_, key, "a number", at(key));
  return at(key).get<double>();
}

Result<bool> ModelConfig::boolean_or(const std::string& key, bool fallback) const {
  if (!has(key)) return fallback;
  if (!at(key).is_boolean()) return wrong_type(file_, key, "true or false", at(key));
  return at(key).get<bool>();
}

Result<std::string> ModelConfig::text_or(const std::string& key, std::string fallback) const {
  if (!has(key)) return fallback;
  if (!at(key).is_string()) return wrong_type(file_, key, "text", at(key));
  return at(key).get<std::string>();
}

std::optional<std::int64_t> ModelConfig::longest_sequence() const {
  for (const char* key : {"max_position_embeddings", "n_positions", "max_seq_len"}) {
    if (const auto most = integer(key)) return *most;
  }
  return std::nullopt;
}

Result<std::vector<std::string>> ModelConfig::texts(const std::string& key) const {
  std::vector<std::string> all;
  if (!has(key)) return all;
  const nlohmann::json& list = at(key);
  if (!list.is_array()) return wrong_type(file_, key, "a list of texts", list);
  for (const nlohmann::json& value : list) {
    if (!value.is_string()) return wrong_type(file_, key, "a list of texts", list);
    all.push_back(value.get<std::string>());
  }
  return all;
}

Result<std::vector<std::int64_t>> ModelConfig::indices(const std::string& key) const {
  std::vector<std::int64_t> all;
  if (!has(key)) return all;
  const nlohmann::json& list = at(key);
  if (!list.is_array()) return wrong_type(file_, key, "a list of integers from 0", list);
  for (const nlohmann::json& value : list) {
    if (!value.is_number_integer() || value.get<double>() < 0 || value.get<double>() > 2147483648.0)
      return wrong_type(file_, key, "a list of integers from 0", list);
    all.push_back(value.get<std::int64_t>());
  }
  return all;
}

Result<ModelConfig> ModelConfig::object_or_empty(const std::string& key) const {
  if (!has(key)) return ModelConfig(nlohmann::json::object(), file_);
  if (!at(key).is_object()) return wrong_type(file_, key, "an object", at(key));
  return ModelConfig(at(key), file_ + ": " + key);
}

}  // namespace shardlab

#include "engine/scenario/expert_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/base/input_file.h"
#include "engine/base/json_depth.h"
#include "engine/model/operators/operator_type.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/resolve_path.h"

namespace shardlab {
namespace {

constexpr const char* k_key = "model.moe.load";

// Adding up to 1.
Result<std::vector<double>> normalized(std::vector<double> shares, const std::string& where) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (!(sum > 0) || sum > 1e18) return bad_input(where, "the shares of all experts are zero, or no numbers");
  for (double& share : shares) share /= sum;
  return shares;
}

Result<std::vector<double>> shares_of(const nlohmann::json& numbers, const std::string& where) {
  std::vector<double> shares;
  if (!numbers.is_array()) return bad_input(where, "expected a list of numbers");
  for (const nlohmann::json& number : numbers) {
    if (!number.is_number() || number.get<double>() < 0) return bad_input(where, "expected numbers from 0");
    shares.push_back(number.get<double>());
  }
  return normalized(std::move(shares), where);
}

Result<std::vector<std::vector<double>>> read_recorded(const std::filesystem::path& path) {
  SHARDLAB_TRY(const std::string text, read_input_file(path, k_expert_load_file));
  const nlohmann::json root =
      is_json_too_large(text) ? nlohmann::json() : nlohmann::json::parse(text, nullptr, false);
  if (!root.is_object() || !root.contains("layers") || !root["layers"].is_array() || root["layers"].empty())
    return bad_input(in_file(path.string()), "no load of experts in this file",
                     "`shardlab run --save-load FILE` writes one");
  std::vector<std::vector<double>> layers;
  for (const nlohmann::json& layer : root["layers"]) {
    const bool known = layer.is_object() && layer.contains("assignments");
    SHARDLAB_TRY(std::vector<double> shares,
                 shares_of(known ? layer["assignments"] : nlohmann::json(),
                           fmt::format("{}: layers[{}].assignments", path.string(), layers.size())));
    layers.push_back(std::move(shares));
  }
  return layers;
}

}  // namespace

std::string to_text(const MoeLoad& load) {
  return load.kind == MoeLoadKind::listed ? nlohmann::json(load.shares).dump()
                                          : std::string(to_string(load.kind));
}

Result<std::vector<std::vector<double>>> expert_shares(const Scenario& scenario) {
  const MoeSpec& moe = scenario.model->moe;
  std::vector<std::vector<double>> lists;
  if (moe.load.kind == MoeLoadKind::measured) {
    SHARDLAB_TRY(const std::filesystem::path path, resolve_path(scenario, moe.measured));
    return read_recorded(path);
  }
  if (moe.load.kind != MoeLoadKind::listed) return lists;
  SHARDLAB_TRY(std::vector<double> shares, normalized(moe.load.shares, k_key));
  lists.push_back(std::move(shares));
  return lists;
}

Status check_expert_shares(const ModelGraph& graph) {
  const auto& lists = graph.expert_shares;
  if (lists.empty()) return {};
  std::size_t layers = 0;
  for (const Operator& op : graph.operators) {
    if (!op.type->expert_counts) continue;
    const auto experts = static_cast<std::size_t>(graph.tensor(op.outputs[*op.type->expert_counts]).shape[0]);
    const auto per_token = static_cast<double>(graph.tensor(op.inputs[1]).shape.back());
    const std::vector<double>& shares = lists[lists.size() == 1 ? 0 : std::min(layers, lists.size() - 1)];
    ++layers;
    if (shares.size() != experts)
      return bad_input(k_key, fmt::format("{} shares where a layer has {} experts", shares.size(), experts));
    if (*std::max_element(shares.begin(), shares.end()) > (1 + 1e-9) / per_token) {
      return bad_input(
          k_key,
          fmt::format("a share above 1 / {}: a token goes to {} different experts", per_token, per_token),
          "shares are of all assignments");
    }
  }
  if (lists.size() == 1 || lists.size() == layers) return {};
  return bad_input(
      k_key, fmt::format("loads of {} layers where the model has {} with experts", lists.size(), layers));
}

}  // namespace shardlab

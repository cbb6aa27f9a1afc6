#include "engine/doctor/job/strategy_settings.h"

#include <fmt/format.h>

namespace shardlab {
namespace {

std::string name_of(Framework framework, int zero_stage) {
  for (const KnownStrategy& known : known_strategies()) {
    if (known.built && known.facts->framework == framework && known.facts->zero_stage == zero_stage)
      return std::string(known.name);
  }
  return "";
}

}  // namespace

std::vector<std::vector<std::string>> strategy_settings(Framework framework, int zero_stage) {
  const std::string name = name_of(framework, zero_stage);
  if (name.empty()) return {};
  return {{"parallel.strategy=" + name}, {fmt::format("parallel={{strategy: {}}}", name)}};
}

std::vector<std::string> strategy_with(Framework framework, const std::string& keys) {
  return {fmt::format("parallel={{strategy: {}, {}}}", name_of(framework, 0), keys)};
}

}  // namespace shardlab

#include "engine/execute/rank_options.h"

#include <string_view>

#include <fmt/format.h>

namespace shardlab {
namespace {

constexpr std::string_view k_hint = "shardlab-rank is started by `shardlab run`, not by hand";

bool parse_count(const std::string& text, int& value) {
  if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos)
    return false;
  value = std::stoi(text);
  return true;
}

}  // namespace

Result<RankOptions> parse_rank_options(int count, const char* const* arguments) {
  RankOptions options;
  for (int i = 1; i < count; ++i) {
    const std::string_view name = arguments[i];
    if (name == "--poison") {
      options.poison = true;
      continue;
    }
    if (i + 1 >= count)
      return bad_input(std::string(name), "unknown or without a value", std::string(k_hint));
    const std::string value = arguments[++i];
    if (name == "--scenario") {
      options.scenario = value;
    } else if (name == "--directory") {
      options.directory = value;
    } else if (name == "--run-hash") {
      options.run_hash = value;
    } else if (name == "--spool") {
      options.spool = value;
    } else if (name == "--save-weights") {
      options.save_weights = value;
    } else if (name == "--memory-snapshot") {
      options.memory_snapshot = value;
    } else if (name == "--save-load") {
      options.save_load = value;
    } else if (name == "--probes") {
      options.probes = value;
    } else if (name == "--threads" || name == "--parent") {
      if (!parse_count(value, name == "--threads" ? options.threads : options.parent)) {
        return bad_input(std::string(name), fmt::format("'{}' is not a number", value), std::string(k_hint));
      }
    } else {
      return bad_input(std::string(name), "unknown option", std::string(k_hint));
    }
  }
  if (options.scenario.empty() || options.spool.empty())
    return bad_input("shardlab-rank", "needs --scenario and --spool", std::string(k_hint));
  if (options.threads < 1) return bad_input("--threads", "must be at least 1", std::string(k_hint));
  return options;
}

}  // namespace shardlab

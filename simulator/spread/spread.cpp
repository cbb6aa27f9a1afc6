#include "simulator/spread/spread.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/base/nearest.h"
#include "engine/base/parse.h"
#include "engine/base/paths.h"
#include "engine/hardware/description.h"

namespace shardlab {
namespace {

struct SpreadRow {
  const char* name;
  const char* shown;
  double Spread::*member;
};

constexpr std::array<SpreadRow, 4> k_rows{{{"gpus", "GPUs", &Spread::gpus},
                                           {"kernels", "kernels", &Spread::kernels},
                                           {"collectives", "collectives", &Spread::collectives},
                                           {"hosts", "hosts", &Spread::hosts}}};

std::vector<std::string> row_names() {
  std::vector<std::string> names;
  for (const SpreadRow& row : k_rows) names.emplace_back(row.name);
  return names;
}

// What stands before and behind the first '='.
std::optional<std::pair<std::string, std::string>> cut(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return std::nullopt;
  return std::pair{text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

Result<Spread> read_spread() {
  SHARDLAB_TRY(const std::filesystem::path path, find_asset("hardware/spread.yaml"));
  SHARDLAB_TRY(Description file, Description::read(path));
  file.text("name");
  Spread spread;
  for (const SpreadRow& row : k_rows) spread.*row.member = file.figure("figures", row.name);
  SHARDLAB_CHECK_OK(file.finish());
  return spread;
}

Status set_spread(Spread& spread, const std::string& text, const std::string& option) {
  const auto parts = cut(text);
  if (!parts) return bad_input(option, fmt::format("'{}' is no NAME=PERCENT", text), "such as kernels=1.5%");
  for (const SpreadRow& row : k_rows) {
    if (parts->first != row.name) continue;
    const Result<double> value = parse_fraction(parts->second);
    if (!value || !(*value >= 0 && *value <= 1))
      return bad_input(option, fmt::format("'{}' is no share from 0 to 100 %", parts->second),
                       "such as kernels=1.5%");
    spread.*row.member = *value;
    return {};
  }
  return bad_input(option, fmt::format("unknown spread '{}'", parts->first),
                   suggestion(parts->first, row_names()));
}

Status set_speed(Spread& spread, const std::string& text, int ranks, const std::string& option) {
  const auto parts = cut(text);
  if (!parts) return bad_input(option, fmt::format("'{}' is no RANK=SPEED", text), "such as 3=80%");
  const Result<std::int64_t> rank = parse_integer(parts->first);
  if (!rank || *rank < 0 || *rank >= ranks) {
    return bad_input(option, fmt::format("there is no rank '{}'", parts->first),
                     fmt::format("ranks are 0 to {}", ranks - 1));
  }
  const Result<double> speed = parse_fraction(parts->second);
  if (!speed || !(*speed >= 0.01 && *speed <= 10))
    return bad_input(option, fmt::format("'{}' is no speed from 1 % to 1000 %", parts->second),
                     "such as 3=80%");
  if (!spread.speeds.emplace(static_cast<int>(*rank), *speed).second)
    return bad_input(option, fmt::format("the speed of rank {} is given twice", *rank));
  return {};
}

std::string to_text(const Spread& spread) {
  std::string text;
  for (const SpreadRow& row : k_rows)
    text += fmt::format("{} {:.3g} %, ", row.shown, spread.*row.member * 100);
  text += fmt::format("seed {}", spread.seed);
  for (const auto& [rank, speed] : spread.speeds)
    text += fmt::format("; rank {} at {:.3g} %", rank, speed * 100);
  return text;
}

}  // namespace shardlab

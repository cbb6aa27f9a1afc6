#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/report/figures.h"
#include "engine/report/rank_waits_table.h"
#include "engine/report/text_table.h"

namespace shardlab {
namespace {

using Json = nlohmann::ordered_json;

template <typename Value>
Value median_of(std::span<const RankWait> ranks, Value RankWait::*figure) {
  std::vector<Value> values;
  for (const RankWait& rank : ranks) values.push_back(rank.*figure);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

RankWait median_rank(std::span<const RankWait> ranks) {
  RankWait median;
  for (Nanoseconds RankWait::*time :
       {&RankWait::step, &RankWait::computes, &RankWait::waits, &RankWait::held_up})
    median.*time = median_of(ranks, time);
  for (double RankWait::*count : {&RankWait::collectives, &RankWait::last})
    median.*count = median_of(ranks, count);
  return median;
}

std::vector<TableCell> cells(const std::string& name, const RankWait& rank) {
  return {name,
          to_string(rank.step),
          to_string(rank.computes),
          to_string(rank.waits),
          fmt::format("{:.0f} of {:.0f}", rank.last, rank.collectives),
          to_string(rank.held_up)};
}

// Who holds up most first.
std::vector<RankWait> by_held_up(std::span<const RankWait> ranks) {
  std::vector<RankWait> sorted(ranks.begin(), ranks.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const RankWait& a, const RankWait& b) { return a.held_up > b.held_up; });
  return sorted;
}

}  // namespace

Json rank_waits_json(std::span<const RankWait> ranks) {
  Json list = Json::array();
  for (const RankWait& rank : ranks) {
    list.push_back({{"rank", rank.rank},
                    {"step_time_ns", rank.step.value},
                    {"computes_ns", rank.computes.value},
                    {"waits_ns", rank.waits.value},
                    {"collectives", rank.collectives},
                    {"last", rank.last},
                    {"held_up_ns", rank.held_up.value}});
  }
  return list;
}

std::string rank_table(std::span<const RankWait> ranks, const TextStyle& style, std::size_t most) {
  if (ranks.empty()) return "";
  const std::vector<RankWait> sorted = by_held_up(ranks);
  std::size_t shown = sorted.size();
  if (shown > most) {
    const auto holds_up = [](const RankWait& rank) { return rank.held_up.value > 0; };
    const auto all = std::count_if(sorted.begin(), sorted.end(), holds_up);
    shown = std::clamp<std::size_t>(static_cast<std::size_t>(all), 1, most);
  }
  TextTable table({{"ranks", Align::left},
                   {"step", Align::right, false, 8, 1},
                   {"computes"},
                   {"waits"},
                   {"comes last"},
                   {"others wait for it"}});
  for (std::size_t i = 0; i < shown; ++i) table.add(cells(fmt::format("rank {}", sorted[i].rank), sorted[i]));
  const std::span<const RankWait> rest = std::span(sorted).subspan(shown);
  if (!rest.empty()) table.add(cells(fmt::format("median of {} others", rest.size()), median_rank(rest)));
  return table.text(style);
}

}  // namespace shardlab

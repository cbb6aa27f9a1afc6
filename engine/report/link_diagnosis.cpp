#include "engine/report/link_diagnosis.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace shardlab {
namespace {

template <typename Value, typename Get>
Value median_of(const std::vector<PairLink>& links, Get get) {
  std::vector<Value> values;
  for (const PairLink& link : links) values.push_back(get(link));
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

bool is_slow(const PairLink& link, const LinkDiagnosis& middle) {
  return link.bytes_per_second < k_slow * middle.middle_bytes_per_second ||
         k_slow * static_cast<double>(link.latency.value) > static_cast<double>(middle.middle_latency.value);
}

std::string gigabytes(double bytes_per_second) {
  return fmt::format("{:.3g} GB/s", bytes_per_second / 1e9);
}

}  // namespace

LinkDiagnosis diagnose_links(const std::vector<PairLink>& links) {
  LinkDiagnosis diagnosis;
  if (links.empty()) return diagnosis;
  diagnosis.middle_bytes_per_second =
      median_of<double>(links, [](const PairLink& link) { return link.bytes_per_second; });
  diagnosis.middle_latency = median_of<Nanoseconds>(links, [](const PairLink& link) { return link.latency; });
  std::map<int, std::pair<int, int>> slow_of_all;  // by rank
  for (const PairLink& link : links) {
    for (const int rank : {link.first, link.second}) {
      slow_of_all[rank].first += is_slow(link, diagnosis) ? 1 : 0;
      ++slow_of_all[rank].second;
    }
  }
  for (const auto& [rank, count] : slow_of_all) {
    if (count.second > 1 && count.first == count.second) diagnosis.slow_ranks.push_back(rank);
  }
  const auto of_slow_rank = [&](const PairLink& link) {
    return std::any_of(diagnosis.slow_ranks.begin(), diagnosis.slow_ranks.end(),
                       [&](int rank) { return rank == link.first || rank == link.second; });
  };
  for (const PairLink& link : links) {
    if (is_slow(link, diagnosis) && !of_slow_rank(link)) diagnosis.slow_pairs.push_back(link);
  }
  return diagnosis;
}

std::vector<std::string> findings(const LinkDiagnosis& diagnosis, const std::vector<PairLink>& links) {
  if (links.size() < 2) return {"one link, with nothing to compare it with"};
  std::vector<std::string> lines;
  const std::string middle =
      fmt::format("the middle of all pairs is {}, {}", gigabytes(diagnosis.middle_bytes_per_second),
                  to_string(diagnosis.middle_latency));
  for (const int rank : diagnosis.slow_ranks)
    lines.push_back(fmt::format(
        "rank {} is slow with everybody; {}: look at its slot, its cable or its clocks", rank, middle));
  for (const PairLink& link : diagnosis.slow_pairs) {
    lines.push_back(fmt::format("ranks {} and {} are slow: {}, {}; {}: how are they connected?", link.first,
                                link.second, gigabytes(link.bytes_per_second), to_string(link.latency),
                                middle));
  }
  if (lines.empty()) lines.push_back("no pair stands out; " + middle);
  return lines;
}

}  // namespace shardlab

#include "engine/formats/logs/log_files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "engine/base/input_file.h"
#include "engine/base/lower_case.h"

namespace shardlab {
namespace {

std::optional<int> whole_number(std::string_view digits) {
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool is_whole = error == std::errc() && end == digits.data() + digits.size();
  return is_whole && !digits.empty() ? std::optional(number) : std::nullopt;
}

// "rank3", "rank_3", "train-rank-3.log"; not "lora_rank64", which is a size.
std::optional<int> rank_in_name(const std::string& name) {
  constexpr std::string_view k_rank = "rank", k_between = "_-.";
  const std::string lower = in_lower_case(name);
  const std::size_t at = lower.find(k_rank);
  if (at == std::string::npos) return std::nullopt;
  const bool ends_a_word = at > 0 && std::isalpha(static_cast<unsigned char>(lower[at - 1])) != 0;
  if (ends_a_word || lower.find("lora") != std::string::npos) return std::nullopt;
  std::size_t begin = at + k_rank.size();
  if (begin < lower.size() && k_between.find(lower[begin]) != std::string_view::npos) ++begin;
  std::size_t end = begin;
  while (end < lower.size() && std::isdigit(static_cast<unsigned char>(lower[end])) != 0) ++end;
  return whole_number(std::string_view(lower).substr(begin, end - begin));
}

struct Extent {
  std::int64_t first = 0, last = 0;
  bool is_known() const { return last > 0; }
};

Extent extent_of(const TrainingLog& log) {
  Extent extent;
  extent.last = log.last_step;
  if (!log.times.empty()) extent.first = log.times.front().begun_at + 1;
  if (log.knows_steps && !log.losses.empty()) {
    extent.first = log.losses.begin()->first;
    extent.last = std::max(extent.last, log.losses.rbegin()->first);
  }
  return extent;
}

// Whether those that have steps begin with the same one and share half of them.
bool wrote_at_once(const std::vector<Extent>& extents) {
  std::vector<Extent> known;
  std::copy_if(extents.begin(), extents.end(), std::back_inserter(known),
               [](const Extent& each) { return each.is_known(); });
  if (known.size() < 2) return false;
  const auto [shortest, longest] = std::minmax_element(
      known.begin(), known.end(), [](const Extent& a, const Extent& b) { return a.last < b.last; });
  const bool same_first = std::all_of(known.begin(), known.end(),
                                      [&](const Extent& each) { return each.first == known.front().first; });
  return same_first && 2 * (shortest->last - shortest->first) >= longest->last - longest->first;
}

LogFiles of_ranks(LogFiles files) {
  files.read_as = fmt::format("{} files are read as ranks of one training", files.in_order.size());
  for (std::size_t i = 0; i < files.in_order.size(); ++i) {
    LogPart& part = files.in_order[i];
    part.writer = part.rank.value_or(static_cast<int>(i)) + 1;
  }
  return files;
}

LogFiles of_starts(const LogFiles& files, const std::vector<Extent>& extents) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < extents.size(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return extents[a].first < extents[b].first; });
  LogFiles sorted;
  for (const std::size_t i : order) sorted.in_order.push_back(files.in_order[i]);
  sorted.read_as =
      fmt::format("{} files are read as parts of one training, one after the other", order.size());
  return sorted;
}

}  // namespace

std::optional<int> rank_of_path(const std::filesystem::path& file) {
  constexpr std::array<std::string_view, 2> k_of_torchrun = {"stdout", "stderr"};
  const std::string stem = file.stem().string(), folder = file.parent_path().filename().string();
  if (std::find(k_of_torchrun.begin(), k_of_torchrun.end(), stem) != k_of_torchrun.end()) {
    if (const auto number = whole_number(folder)) return number;
  }
  if (const auto rank = rank_in_name(stem)) return rank;
  return rank_in_name(folder);
}

Result<LogFiles> log_files(std::span<const std::filesystem::path> files, ReadLogFunction read) {
  LogFiles parts;
  for (const std::filesystem::path& file : files) parts.in_order.push_back({file, rank_of_path(file)});
  if (std::all_of(parts.in_order.begin(), parts.in_order.end(),
                  [](const LogPart& part) { return part.rank.has_value(); }))
    return of_ranks(std::move(parts));
  std::vector<Extent> extents;
  for (const std::filesystem::path& file : files) {
    SHARDLAB_TRY(const InputFile readable, InputFile::open(file, "log"));
    const auto log = read(file, std::nullopt);
    extents.push_back(log ? extent_of(*log) : Extent{});
  }
  if (!wrote_at_once(extents)) return of_starts(parts, extents);
  for (LogPart& part : parts.in_order) part.rank.reset();
  return of_ranks(std::move(parts));
}

}  // namespace shardlab

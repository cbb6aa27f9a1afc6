#include "engine/execute/progress_tail.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace shardlab {
namespace {

// The number after `"key":` near the beginning of a line of our own making.
std::optional<double> number_after(const std::string& line, std::string_view key) {
  const std::size_t at = line.find(key);
  if (at == std::string::npos) return std::nullopt;
  char* end = nullptr;
  const char* begin = line.c_str() + at + key.size();
  const double value = std::strtod(begin, &end);
  return end == begin ? std::nullopt : std::optional(value);
}

// The same where it is whole and can be counted with.
std::optional<std::int64_t> count_after(const std::string& line, std::string_view key) {
  constexpr double k_most = 0x1p62;
  const auto number = number_after(line, key);
  if (!number || !(std::abs(*number) < k_most)) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

constexpr std::size_t k_interesting = 512;  // bytes of a line

}  // namespace

bool ProgressTail::take_line(const std::string& line) {
  if (line.starts_with(R"({"record":"header")")) {
    progress_.steps = count_after(line, R"("steps":)").value_or(0);
    return true;
  }
  if (!line.starts_with(R"({"record":"step")")) return false;
  progress_.steps_done = count_after(line, R"("step":)").value_or(-1) + 1;
  progress_.loss = number_after(line, R"("mean_loss":)");
  const auto duration = count_after(line, R"("duration":)"), peak = count_after(line, R"("peak":)");
  progress_.duration.reset();
  progress_.peak.reset();
  if (duration) progress_.duration = Nanoseconds{*duration};
  if (peak) progress_.peak = Bytes{*peak};
  return true;
}

std::optional<RunProgress> ProgressTail::read() {
  if (!stream_.is_open()) stream_.open(path_);
  if (!stream_.is_open()) return std::nullopt;
  bool news = false;
  char chunk[1 << 14];
  do {
    stream_.clear();
    stream_.read(chunk, sizeof(chunk));
    const std::string_view text(chunk, static_cast<std::size_t>(stream_.gcount()));
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      const std::string_view piece = text.substr(at, end == std::string_view::npos ? end : end - at);
      if (partial_.size() < k_interesting) partial_ += piece.substr(0, k_interesting - partial_.size());
      if (end == std::string_view::npos) break;
      news = take_line(partial_) || news;
      partial_.clear();
      at = end + 1;
    }
  } while (stream_.gcount() > 0);
  return news ? std::optional(progress_) : std::nullopt;
}

}  // namespace shardlab

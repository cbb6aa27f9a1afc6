#include "engine/doctor/log/figure_tracks.h"

#include "engine/base/text/log_lines.h"
#include "engine/doctor/log/figure_values.h"

namespace shardlab {
namespace {

constexpr std::size_t k_most_tracks = 64;
constexpr std::size_t k_longest_raw_line = 1024;  // that is kept of one
constexpr int k_nobody = -1;

int owner_of(const RawLine& raw) {
  return raw.rank.value_or(k_nobody);
}

}  // namespace

SeenLine seen(const RawLine& raw) {
  return {raw.line, raw.rank, readable_around(raw.text, 0)};
}

void FigureTracks::LastLine::set(const RawLine& raw) {
  line = raw.line;
  rank = raw.rank;
  text.assign(raw.text.substr(0, k_longest_raw_line));
}

SeenLine FigureTracks::LastLine::seen() const {
  return shardlab::seen({line, rank, text});
}

void FigureTracks::take(const RawLine& raw, std::string_view line, bool finite) {
  if (!finite) {
    const auto known = losses_.find(owner_of(raw));
    const auto rise = known == losses_.end() || rise_ ? std::nullopt : known->second.track.rise();
    if (rise) rise_ = SeenRise{known->second.last.seen(), *rise, true};
    return;
  }
  if (const auto loss = loss_in(line)) take_loss(raw, *loss);
  if (const auto norm = gradient_norm_in(line)) take_norm(raw, *norm);
  if (const auto memory = memory_in(line)) take_memory(raw, memory->name, memory->value);
}

void FigureTracks::take_loss(const RawLine& raw, double loss) {
  if (losses_.size() >= k_most_tracks && !losses_.contains(owner_of(raw))) return;
  Losses& losses = losses_[owner_of(raw)];
  losses.track.take(loss);
  losses.last.set(raw);
}

void FigureTracks::take_norm(const RawLine& raw, double norm) {
  if (norms_.size() >= k_most_tracks && !norms_.contains(owner_of(raw))) return;
  const auto spike = norms_[owner_of(raw)].take(norm);
  if (!spike) return;
  if (!spike_) spike_ = SeenSpike{seen(raw), *spike, 0};
  ++spike_->count;
}

void FigureTracks::take_memory(const RawLine& raw, std::string_view name, double memory) {
  const std::pair key(owner_of(raw), name);
  if (memory_.size() >= k_most_tracks && !memory_.contains(key)) return;
  Memory& track = memory_[key];
  track.track.take(memory);
  track.last.set(raw);
}

void FigureTracks::finish(LogFacts& facts) const {
  facts.spike = spike_;
  facts.rise = rise_;
  for (const auto& [owner, losses] : losses_) {
    const auto rise = facts.rise ? std::nullopt : losses.track.rise();
    if (rise) facts.rise = SeenRise{losses.last.seen(), *rise, false};
  }
  for (const auto& [key, memory] : memory_) {
    const auto growth = facts.growth ? std::nullopt : memory.track.growth();
    if (growth) facts.growth = SeenGrowth{memory.last.seen(), *growth};
  }
}

}  // namespace shardlab

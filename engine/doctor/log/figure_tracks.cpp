#include "engine/doctor/log/figure_tracks.h"

#include "engine/doctor/log/figure_values.h"

namespace shardlab {
namespace {

constexpr std::size_t k_most_tracks = 64;
constexpr int k_nobody = -1;

int owner_of(const SeenLine& kept) {
  return kept.rank.value_or(k_nobody);
}

}  // namespace

void FigureTracks::take(const SeenLine& kept, std::string_view line, bool finite) {
  if (!finite) {
    const auto known = losses_.find(owner_of(kept));
    const auto rise = known == losses_.end() || rise_ ? std::nullopt : known->second.track.rise();
    if (rise) rise_ = SeenRise{known->second.last, *rise, true};
    return;
  }
  if (const auto loss = loss_in(line)) take_loss(kept, *loss);
  if (const auto norm = gradient_norm_in(line)) take_norm(kept, *norm);
  if (const auto memory = memory_in(line)) take_memory(kept, memory->name, memory->value);
}

void FigureTracks::take_loss(const SeenLine& kept, double loss) {
  if (losses_.size() >= k_most_tracks && !losses_.contains(owner_of(kept))) return;
  Losses& losses = losses_[owner_of(kept)];
  losses.track.take(loss);
  losses.last = kept;
}

void FigureTracks::take_norm(const SeenLine& kept, double norm) {
  if (norms_.size() >= k_most_tracks && !norms_.contains(owner_of(kept))) return;
  const auto spike = norms_[owner_of(kept)].take(norm);
  if (!spike) return;
  if (!spike_) spike_ = SeenSpike{kept, *spike, 0};
  ++spike_->count;
}

void FigureTracks::take_memory(const SeenLine& kept, std::string_view name, double memory) {
  const std::pair key(owner_of(kept), name);
  if (memory_.size() >= k_most_tracks && !memory_.contains(key)) return;
  Memory& track = memory_[key];
  track.track.take(memory);
  track.last = kept;
}

void FigureTracks::finish(LogFacts& facts) const {
  facts.spike = spike_;
  facts.rise = rise_;
  for (const auto& [owner, losses] : losses_) {
    const auto rise = facts.rise ? std::nullopt : losses.track.rise();
    if (rise) facts.rise = SeenRise{losses.last, *rise, false};
  }
  for (const auto& [key, memory] : memory_) {
    const auto growth = facts.growth ? std::nullopt : memory.track.growth();
    if (growth) facts.growth = SeenGrowth{memory.last, *growth};
  }
}

}  // namespace shardlab

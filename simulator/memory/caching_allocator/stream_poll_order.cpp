#include "simulator/memory/caching_allocator/stream_poll_order.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace shardlab {
namespace {

// c10::Stream::hash(): type of device (CUDA is 1), device, and the lower 48 bits of the stream's number.
std::uint64_t hash_of(AllocatorStream stream, int device) {
  constexpr std::uint64_t k_cuda = 1;
  return k_cuda << 56U | static_cast<std::uint64_t>(device) << 48U |
         (static_cast<std::uint64_t>(stream.value) & ((std::uint64_t{1} << 48U) - 1));
}

}  // namespace

std::size_t StreamPollOrder::home(std::uint64_t hash) const {
  constexpr std::uint64_t k_golden_ratio = 11400714819323198485ULL;  // 2^64 divided by it
  return static_cast<std::size_t>((k_golden_ratio * hash) >> (64 - std::countr_zero(homes_)));
}

void StreamPollOrder::insert(std::uint32_t index, AllocatorStream stream, int device) {
  for (const Slot& slot : slots_)
    if (!slot.empty() && slot.index == index) return;
  add({.index = index, .hash = hash_of(stream, device)});
}

// Each entry that is pushed on while the table is too crowded is added again to the larger one.
void StreamPollOrder::add(Slot slot) {
  while (homes_ == 0 || 2 * (count_ + 1) > homes_ || !place(slot)) grow();
  ++count_;
}

// Puts the entry where the first one lies that is nearer to its home, and pushes that one on. False when a
// search grew too long; then `slot` is the one that has no place, and all others have theirs.
bool StreamPollOrder::place(Slot& slot) {
  slot.distance = 0;
  std::size_t at = home(slot.hash);
  while (slots_[at].distance >= slot.distance) ++at, ++slot.distance;
  if (slot.distance == most_lookups_) return false;
  const std::size_t first = at;
  for (;; ++at) {
    if (slots_[at].empty()) {
      slots_[at] = slot;
      return true;
    }
    if (slots_[at].distance < slot.distance) {
      std::swap(slots_[at], slot);
      ++slot.distance;
    } else if (++slot.distance == most_lookups_) {
      // As in torch: the one without a place takes the new one's, which is added again.
      std::swap(slots_[first].index, slot.index);
      std::swap(slots_[first].hash, slot.hash);
      return false;
    }
  }
}

void StreamPollOrder::grow() {
  std::vector<Slot> old = std::exchange(slots_, {});
  homes_ = std::max<std::size_t>(4, 2 * homes_);
  most_lookups_ = std::max(4, static_cast<int>(std::bit_width(homes_)) - 1);
  slots_.resize(homes_ + static_cast<std::size_t>(most_lookups_));
  count_ = 0;
  for (const Slot& slot : old)
    if (!slot.empty()) add(slot);
}

void StreamPollOrder::erase(std::uint32_t index) {
  const auto found = std::find_if(slots_.begin(), slots_.end(),
                                  [index](const Slot& slot) { return !slot.empty() && slot.index == index; });
  if (found == slots_.end()) return;
  --count_;
  auto at = found;
  for (; at + 1 != slots_.end() && (at + 1)->distance > 0; ++at) {
    *at = *(at + 1);
    --at->distance;
  }
  *at = {};
}

void StreamPollOrder::list(std::vector<std::uint32_t>& out) const {
  out.clear();
  for (const Slot& slot : slots_)
    if (!slot.empty()) out.push_back(slot.index);
}

}  // namespace shardlab

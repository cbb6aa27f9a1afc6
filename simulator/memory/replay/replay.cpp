#include "simulator/memory/replay/replay.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "simulator/memory/caching_allocator/caching_allocator.h"

namespace shardlab {
namespace {

constexpr Bytes k_no_limit = {std::int64_t{1} << 48U};
constexpr std::size_t k_failures_kept = 100;

bool overlap(DeviceAddress a, Bytes size_a, DeviceAddress b, Bytes size_b) {
  return a < b + size_b && b < a + size_a;
}

// Puts segments where the driver put them when it was recorded, as long as the replay asks for the same and
// the place is free; others behind all of them.
class RecordedPlaces {
 public:
  explicit RecordedPlaces(std::vector<RecordedPlace> places) : places_(std::move(places)) {
    for (const RecordedPlace& each : places_) behind_ = std::max(behind_, each.address + each.size);
  }

  DeviceAddress next(Bytes size, const CachingAllocator& allocator) {
    if (next_ < places_.size() && places_[next_].size == size) {
      const RecordedPlace place = places_[next_++];
      if (is_free(place, allocator)) return place.address;
    }
    const DeviceAddress here = behind_;
    behind_ = behind_ + size;
    return here;
  }

 private:
  static bool is_free(const RecordedPlace& place, const CachingAllocator& allocator) {
    for (const SegmentSnapshot& segment : allocator.snapshot())
      if (overlap(segment.address, segment.size, place.address, place.size)) return false;
    return true;
  }

  std::vector<RecordedPlace> places_;
  std::size_t next_ = 0;
  DeviceAddress behind_ = {std::uint64_t{1} << 32U};
};

// Statistics add up all sizes that ever were, each rounded up, or a segment for it: their sums must be
// numbers.
Status check_sizes(const AllocatorRecording& recording, const AllocatorOptions& options) {
  constexpr Bytes k_most = {std::int64_t{1} << 60U};
  const Bytes segment = options.large_segment_size;
  Bytes all;
  for (const RecordedCall& call : recording.calls) {
    if (call.kind != RecordedKind::malloc && call.kind != RecordedKind::failed_malloc) continue;
    const Bytes size = std::max(call.size, segment);
    if (size > k_most - all) return bad_input({}, "asks for more memory in all than can be counted");
    all += size;
  }
  return {};
}

class Replay {
 public:
  Replay(const AllocatorRecording& recording, const AllocatorOptions& options, std::optional<Bytes> limit,
         bool as_recorded)
      : recording_(recording),
        places_(as_recorded ? recording.places : std::vector<RecordedPlace>()),
        allocator_(options, device(limit)),
        live_(std::size_t{recording.blocks} + 1),  // calls that are of no block name the first
        failed_(recording.blocks) {}
  Replay(const Replay&) = delete;             // the allocator asks this object for places
  Replay& operator=(const Replay&) = delete;  // likewise

  ReplayOutcome run() {
    for (const RecordedCall& call : recording_.calls) {
      make(call);
      ++made_;
      note_highest();
    }
    outcome_.statistics = allocator_.statistics();
    outcome_.at_peak = live_after(recording_, made_at_peak_, failed_);
    return std::move(outcome_);
  }

 private:
  struct Live {
    std::optional<AllocationId> allocation;  // none: it failed here, or was freed
    AllocatorStream user;                    // of free_in_use
  };

  AllocatorDevice device(std::optional<Bytes> limit) {
    const Bytes memory = limit.value_or(k_no_limit);
    return {memory, memory, 0, [this](Bytes size) { return places_.next(size, allocator_); }};
  }

  void note_highest() {
    const AllocatorStatistics& now = allocator_.statistics();
    outcome_.reserved_in_vain =
        std::max(outcome_.reserved_in_vain, allocator_.reserved() - Bytes{now.active_bytes.all.current});
    if (now.allocated_bytes.all.current <= highest_) return;
    highest_ = now.allocated_bytes.all.current;
    made_at_peak_ = made_;
  }

  void make(const RecordedCall& call) {
    Live& live = live_[call.block];
    switch (call.kind) {
      case RecordedKind::malloc: live.allocation = malloc(call); return;
      case RecordedKind::failed_malloc: failed_malloc(call); return;
      case RecordedKind::free: free(live); return;
      case RecordedKind::free_in_use:
        live.user = unknown_stream();
        if (live.allocation) (void)allocator_.record_stream(*live.allocation, live.user);
        free(live);
        return;
      case RecordedKind::completed:
      case RecordedKind::completed_and_seen:
        allocator_.complete_events(live.user, allocator_.events_recorded(live.user));
        unknown_streams_.push_back(live.user);
        if (call.kind == RecordedKind::completed_and_seen) allocator_.poll_events();
        return;
      case RecordedKind::record_stream:
        if (live.allocation) (void)allocator_.record_stream(*live.allocation, call.stream);
        return;
      case RecordedKind::complete_events: {
        std::int64_t& done = done_[call.stream.value];
        const std::int64_t recorded = allocator_.events_recorded(call.stream);
        done = call.count < recorded - done ? done + call.count : recorded;
        allocator_.complete_events(call.stream, done);
        return;
      }
      case RecordedKind::empty_cache: allocator_.empty_cache(); return;
    }
  }

  std::optional<AllocationId> malloc(const RecordedCall& call) {
    const auto allocation = allocator_.malloc(call.size, call.stream);
    if (allocation) return *allocation;
    failed_[call.block] = true;
    if (outcome_.failures.size() < k_failures_kept) outcome_.failures.push_back({call.operation, call.size});
    return std::nullopt;
  }

  void failed_malloc(const RecordedCall& call) {
    ++outcome_.recorded_failures;
    const auto allocation = malloc(call);
    if (!allocation) return;
    ++outcome_.recorded_now_possible;
    (void)allocator_.free(*allocation);
  }

  void free(Live& live) {
    if (live.allocation) (void)allocator_.free(*live.allocation);
    live.allocation.reset();
  }

  // A stream of which nothing is known but that it uses one block; its number is nobody's in torch.
  AllocatorStream unknown_stream() {
    if (unknown_streams_.empty()) return {--last_unknown_};
    const AllocatorStream stream = unknown_streams_.back();
    unknown_streams_.pop_back();
    return stream;
  }

  const AllocatorRecording& recording_;
  RecordedPlaces places_;
  CachingAllocator allocator_;
  ReplayOutcome outcome_;
  std::vector<Live> live_;
  std::vector<bool> failed_;                 // by block: its allocation was refused here
  std::size_t made_ = 0, made_at_peak_ = 0;  // calls so far
  std::int64_t highest_ = 0;                 // allocated bytes
  std::vector<AllocatorStream> unknown_streams_;
  std::int64_t last_unknown_ = 0;
  std::unordered_map<std::int64_t, std::int64_t> done_;
};

}  // namespace

double ReplayOutcome::fragmentation() const {
  const auto reserved = static_cast<double>(statistics.reserved_bytes.all.peak);
  return reserved > 0 ? 1 - static_cast<double>(statistics.active_bytes.all.peak) / reserved : 0;
}

Result<ReplayOutcome> replay(const AllocatorRecording& recording, const ReplaySettings& settings) {
  const std::string text = settings.options.value_or(recording.options);
  SHARDLAB_TRY(const AllocatorOptions options, parse_allocator_options(text));
  const std::optional<Bytes> limit = settings.limit ? settings.limit : recording.limit;
  if (options.per_process_memory_fraction < 1 && !limit)
    return bad_input("per_process_memory_fraction", "a fraction of an unknown memory",
                     "say how large it is by --limit");
  SHARDLAB_CHECK_OK(check_sizes(recording, options));
  const auto recorded = parse_allocator_options(recording.options);
  ReplayOutcome outcome = Replay(recording, options, limit, recorded && *recorded == options).run();
  outcome.options = text;
  outcome.limit = limit;
  outcome.limit_source = settings.limit ? LimitSource::given : recording.limit_source;
  outcome.operations = recording.operations;
  outcome.earlier_blocks = recording.earlier_blocks;
  outcome.earlier_bytes = recording.earlier_bytes;
  return outcome;
}

}  // namespace shardlab

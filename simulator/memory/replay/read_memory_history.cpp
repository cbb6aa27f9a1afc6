// A snapshot of torch's memory history as calls. Torch writes what happened, not what was asked:
// record_stream is not there, nor empty_cache, nor what the driver had. Each is found by its consequences:
//
// - free_requested without free_completed right behind it: another stream used the block. It is done where
//   free_completed stands, unless that is within an allocation that waited for all streams.
// - segment_free in front of segment_alloc or oom: the driver had refused an allocation, if a limit of the
// driver's
//   explains it; else, and elsewhere, empty_cache.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "engine/base/input_file.h"
#include "simulator/memory/caching_allocator/allocator_options.h"
#include "simulator/memory/replay/allocator_recording.h"
#include "simulator/memory/replay/history_events.h"

namespace shardlab {
namespace {

bool gives(HistoryAction action) {
  return action == HistoryAction::segment_alloc || action == HistoryAction::segment_map;
}
bool takes(HistoryAction action) {
  return action == HistoryAction::segment_free || action == HistoryAction::segment_unmap;
}

class HistoryReader {
 public:
  explicit HistoryReader(MemoryHistory history) : history_(std::move(history)) {
    recording_.options = history_.options;
    recording_.origins = history_.origins;
    recording_.operations = static_cast<std::int64_t>(history_.events.size());
    const auto options = parse_allocator_options(history_.options);
    collects_ = options && options->garbage_collection_threshold > 0;
    if (options) oversize_ = options->max_split_size;
  }

  Result<AllocatorRecording> read_all() {
    find_limit();
    const HistoryEvents& events = history_.events;
    for (at_ = 0; at_ < events.size(); ++at_)
      if (Status read = event(events[at_]); !read) return fail(std::move(read).error());
    for (const HistoryBlock& block : history_.live_at_end)
      if (!live_.contains(block.address)) earlier(block.address, block.size, block.stream, block.origin);
    // What was there before: in the order of its addresses, at the start.
    std::sort(earlier_.begin(), earlier_.end(),
              [](const Earlier& a, const Earlier& b) { return a.address < b.address; });
    std::vector<RecordedCall> before;
    for (const Earlier& each : earlier_) before.push_back(each.call);
    recording_.calls.insert(recording_.calls.begin(), before.begin(), before.end());
    recording_.earlier_blocks = static_cast<std::int64_t>(earlier_.size());
    return std::move(recording_);
  }

 private:
  struct Earlier {
    std::uint64_t address = 0;
    RecordedCall call;
  };

  Status wrong(std::string what) const {
    return bad_input(fmt::format("event {}", at_ + 1), std::move(what));
  }

  RecordedCall& add(RecordedKind kind, std::uint32_t block = 0) {
    RecordedCall call;
    call.kind = kind;
    call.block = block;
    call.operation = static_cast<std::int64_t>(at_ + 1);
    recording_.calls.push_back(call);
    return recording_.calls.back();
  }

  // A block that the history knows only from its end; who freed it is not who asked for it.
  std::uint32_t earlier(std::uint64_t address, Bytes size, AllocatorStream stream, std::uint32_t origin = 0) {
    Earlier each;
    each.address = address;
    each.call.block = recording_.blocks++;
    each.call.size = size;
    each.call.stream = stream;
    each.call.origin = origin;
    recording_.earlier_bytes += size;
    earlier_.push_back(each);
    return each.call.block;
  }

  Status event(const HistoryEvent& e) {
    switch (e.action) {
      case HistoryAction::alloc: {
        if (live_.contains(e.address)) return wrong("an address that is allocated already");
        live_[e.address] = recording_.blocks;
        RecordedCall& call = add(RecordedKind::malloc, recording_.blocks++);
        call.size = e.size;
        call.stream = e.stream;
        call.origin = e.origin;
        complete_late();
        return {};
      }
      case HistoryAction::oom: {
        RecordedCall& call = add(RecordedKind::failed_malloc, recording_.blocks++);
        call.size = e.size;
        call.stream = e.stream;
        complete_late();
        return {};
      }
      case HistoryAction::free_requested: free_requested(e); return {};
      case HistoryAction::free_completed: free_completed(e); return {};
      case HistoryAction::segment_free:
      case HistoryAction::segment_unmap:
        if (const std::size_t next = behind_releases(at_); !explained(at_, next)) {
          add(RecordedKind::empty_cache);
          at_ = next - 1;
        }
        return {};
      default: return {};
    }
  }

  void free_requested(const HistoryEvent& e) {
    const auto found = live_.find(e.address);
    const std::uint32_t block = found == live_.end() ? earlier(e.address, e.size, e.stream) : found->second;
    if (found != live_.end()) live_.erase(found);
    const HistoryEvents& events = history_.events;
    const bool at_once = at_ + 1 < events.size() && events[at_ + 1].action == HistoryAction::free_completed &&
                         events[at_ + 1].address == e.address;
    add(at_once ? RecordedKind::free : RecordedKind::free_in_use, block);
    if (at_once)
      ++at_;
    else
      in_use_[e.address] = block;
  }

  void free_completed(const HistoryEvent& e) {
    const auto found = in_use_.find(e.address);
    if (found == in_use_.end()) {  // it was freed before the history began
      add(RecordedKind::free, earlier(e.address, e.size, e.stream));
      return;
    }
    if (within_retry())
      late_.push_back(found->second);
    else
      add(RecordedKind::completed_and_seen, found->second);
    in_use_.erase(found);
  }

  // Whether the allocation that follows waited for all streams: then these blocks were not there when it
  // looked for one. Where segments are also released for other reasons, only behind the first of them, or
  // where that reason does not explain them.
  bool within_retry() const {
    const HistoryEvents& events = history_.events;
    std::size_t next = at_;
    while (next < events.size() && events[next].action == HistoryAction::free_completed) ++next;
    if (next == events.size()) return false;
    if (events[next].action == HistoryAction::oom) return true;
    if (!takes(events[next].action)) return false;
    const bool behind_release = at_ > 0 && takes(events[at_ - 1].action);
    return behind_release || (!collects_ && !only_oversize(next));
  }

  // Whether the segments released from here on can be oversize ones that made room for another of their
  // stream.
  bool only_oversize(std::size_t at) const {
    if (!oversize_) return false;
    const HistoryEvents& events = history_.events;
    std::size_t end = at;
    while (end < events.size() && takes(events[end].action)) ++end;
    if (end == events.size() || !gives(events[end].action)) return false;
    return std::all_of(
        events.begin() + static_cast<std::ptrdiff_t>(at), events.begin() + static_cast<std::ptrdiff_t>(end),
        [&](const HistoryEvent& e) { return e.size >= *oversize_ && e.stream == events[end].stream; });
  }

  void complete_late() {
    for (const std::uint32_t block : std::exchange(late_, {})) add(RecordedKind::completed_and_seen, block);
  }

  std::size_t behind_releases(std::size_t at) const {
    const HistoryEvents& events = history_.events;
    while (at < events.size() &&
           (takes(events[at].action) ||
            (events[at].action == HistoryAction::free_completed && in_use_.contains(events[at].address))))
      ++at;
    return at;
  }

  // Whether the segments that were released from `at` on were so because an allocation was refused.
  bool explained(std::size_t at, std::size_t next) const {
    const HistoryEvents& events = history_.events;
    if (next >= events.size()) return false;
    if (collects_ || events[next].action == HistoryAction::oom) return true;
    if (!gives(events[next].action) || !recording_.limit) return false;
    const auto refused = refused_.find(at);
    return refused == refused_.end() || refused->second > *recording_.limit;
  }

  // What the driver had to give: what was reserved and free when an allocation failed, or, where none did,
  // the most with which every release in front of an allocation was one after a refusal.
  void find_limit() {
    const HistoryEvents& events = history_.events;
    Bytes reserved = history_.reserved_at_start, highest = reserved;
    std::vector<std::pair<std::size_t, Bytes>> releases;  // the first event, and what was wanted in all
    for (std::size_t i = 0; i < events.size(); ++i) {
      const HistoryEvent& e = events[i];
      if (gives(e.action)) reserved += e.size;
      highest = std::max(highest, reserved);
      if (e.action == HistoryAction::oom && e.device_free()) {
        recording_.limit = reserved + *e.device_free();
        recording_.limit_source = LimitSource::failure;
      }
      if (!takes(e.action)) continue;
      if (i == 0 || !takes(events[i - 1].action)) releases.emplace_back(i, reserved);
      reserved -= e.size;
      if (i + 1 < events.size() && gives(events[i + 1].action)) releases.back().second += events[i + 1].size;
    }
    refused_.insert(releases.begin(), releases.end());
    if (recording_.limit || collects_) return;
    for (const auto& [first, wanted] : releases) {
      if (const std::size_t next = behind_releases(first);
          next >= events.size() || !gives(events[next].action))
        continue;
      if (wanted <= highest || (recording_.limit && wanted > *recording_.limit)) continue;
      recording_.limit = wanted - Bytes{1};
      recording_.limit_source = LimitSource::releases;
    }
  }

  MemoryHistory history_;
  AllocatorRecording recording_;
  std::size_t at_ = 0;
  bool collects_ = false;
  std::optional<Bytes> oversize_;                                   // the limit of splitting
  std::unordered_map<std::uint64_t, std::uint32_t> live_, in_use_;  // by address
  std::vector<std::uint32_t> late_;
  std::vector<Earlier> earlier_;
  std::unordered_map<std::size_t, Bytes> refused_;
};

// JSON, rather than a pickle.
bool holds_operations(std::string_view content) {
  const std::size_t first = content.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (content[first] == '{' || content[first] == '[');
}

}  // namespace

Result<AllocatorRecording> read_memory_history(PickleSource pickle, std::optional<int> device) {
  SHARDLAB_TRY(MemoryHistory history, read_history_events(std::move(pickle), device));
  std::vector<RecordedPlace> places;
  for (const HistoryEvent& e : history.events)
    if (e.action == HistoryAction::segment_alloc) places.push_back({e.size, {e.address}});
  SHARDLAB_TRY(AllocatorRecording recording, HistoryReader(std::move(history)).read_all());
  recording.places = std::move(places);
  return recording;
}

Result<AllocatorRecording> read_recording(std::string content, std::optional<int> device) {
  if (content.find_first_not_of(" \t\r\n") == std::string::npos) return bad_input({}, "the file is empty");
  if (holds_operations(content)) return read_operations(content);
  return read_memory_history(std::move(content), device);
}

Result<AllocatorRecording> read_recording_file(const std::filesystem::path& file, std::optional<int> device) {
  constexpr FileKind k_beginning{"memory history", std::int64_t{1} << 20};
  SHARDLAB_TRY(std::string beginning, read_beginning(file, k_beginning));
  if (std::ssize(beginning) < k_beginning.most) return read_recording(std::move(beginning), device);
  if (holds_operations(beginning)) {
    SHARDLAB_TRY(const std::string operations, read_input_file(file, k_allocations_file));
    return read_operations(operations);
  }
  SHARDLAB_TRY(PickleSource pickle, open_memory_history(file));
  return read_memory_history(std::move(pickle), device);
}

}  // namespace shardlab

#include "simulator/memory/replay/history_events.h"

#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "engine/base/input_file.h"
#include "engine/base/pickle/pickle_reader.h"
#include "simulator/memory/replay/event_taker.h"

namespace shardlab {
namespace {

class SnapshotReader {
 public:
  SnapshotReader(const PickleTree& tree, EventTaker& taker) : tree_(tree), taker_(taker) {}

  Result<MemoryHistory> read(std::optional<int> wanted) {
    SHARDLAB_TRY(const PickleValue traces,
                 snapshot_member(tree_, tree_.root(), "device_traces", "the snapshot"));
    SHARDLAB_TRY(const int device, choose(tree_.items(traces), wanted));
    const auto events = tree_.items(tree_.items(traces)[static_cast<std::size_t>(device)]);
    SHARDLAB_CHECK_OK(check_events(events));
    MemoryHistory history;
    history.events = taker_.take_events(tree_, events);
    SHARDLAB_CHECK_OK(segments(device, history));
    if (const auto settings = tree_.find(tree_.root(), "allocator_settings"))
      if (const auto text = tree_.find(*settings, "PYTORCH_CUDA_ALLOC_CONF"))
        history.options = std::string(tree_.text(*text).value_or(std::string_view()));
    history.origins = taker_.origins().take_names();
    return history;
  }

 private:
  // Whoever reads on adds sizes up: the sum of all is a number.
  Status add(Bytes size, std::string_view key, std::string_view what) {
    constexpr Bytes k_most = {std::int64_t{1} << 60U};
    if (size > k_most - all_sizes_)
      return bad_input({}, fmt::format("{}: '{}' is no size: {}", what, key, size.value));
    all_sizes_ += size;
    return {};
  }
  Result<Bytes> size(PickleValue of, std::string_view key, std::string_view what) {
    SHARDLAB_TRY(const Bytes size, snapshot_size(tree_, of, key, what));
    SHARDLAB_CHECK_OK(add(size, key, what));
    return size;
  }

  // The device that is asked for, or the only one of which there are events.
  Result<int> choose(std::span<const PickleValue> traces, std::optional<int> wanted) const {
    std::vector<int> with_events;
    for (std::size_t i = 0; i < traces.size(); ++i)
      if (!tree_.items(traces[i]).empty()) with_events.push_back(static_cast<int>(i));
    if (with_events.empty())
      return bad_input({}, "the snapshot has no history",
                       "call torch.cuda.memory._record_memory_history() before what is to be recorded");
    if (!wanted && with_events.size() == 1) return with_events.front();
    std::string names;
    for (const int device : with_events) names += fmt::format("{}{}", names.empty() ? "" : ", ", device);
    if (!wanted)
      return bad_input("--device", fmt::format("the snapshot has the history of devices {}", names),
                       "choose one");
    for (const int device : with_events)
      if (device == *wanted) return device;
    return bad_input("--device", fmt::format("no history of device {}", *wanted),
                     fmt::format("there is that of {}", names));
  }

  Status check_events(std::span<const PickleValue> events) {
    for (std::size_t i = 0; i < events.size(); ++i) {
      SHARDLAB_TRY(const auto event, taker_.event(tree_, events[i], i + 1));
      if (!event) continue;
      for (const auto& [key, size] :
           {std::pair("size", event->size), std::pair("device_free", event->device_free().value_or(Bytes{}))})
        if (Status added = add(size, key, {}); !added)
          return bad_input({}, fmt::format("event {}: '{}' is no size: {}", i + 1, key, size.value));
    }
    return {};
  }

  Status segments(int device, MemoryHistory& history) {
    Bytes reserved;
    SHARDLAB_TRY(const PickleValue all, snapshot_member(tree_, tree_.root(), "segments", "the snapshot"));
    for (const PickleValue segment : tree_.items(all)) {
      SHARDLAB_TRY(const std::int64_t of, snapshot_integer(tree_, segment, "device", "a segment"));
      if (of != device) continue;
      SHARDLAB_TRY(const Bytes total, size(segment, "total_size", "a segment"));
      SHARDLAB_TRY(const std::int64_t stream, snapshot_integer(tree_, segment, "stream", "a segment"));
      SHARDLAB_TRY(const PickleValue blocks, snapshot_member(tree_, segment, "blocks", "a segment"));
      reserved += total;
      for (const PickleValue block : tree_.items(blocks))
        SHARDLAB_CHECK_OK(live_block(block, AllocatorStream{stream}, history));
    }
    // From the end back to the start.
    for (const HistoryEvent& e : history.events) {
      if (e.action == HistoryAction::segment_alloc || e.action == HistoryAction::segment_map)
        reserved -= e.size;
      if (e.action == HistoryAction::segment_free || e.action == HistoryAction::segment_unmap)
        reserved += e.size;
    }
    history.reserved_at_start = reserved;
    return {};
  }

  Status live_block(PickleValue block, AllocatorStream stream, MemoryHistory& history) {
    SHARDLAB_TRY(const PickleValue state, snapshot_member(tree_, block, "state", "a block"));
    if (tree_.text(state) != "active_allocated") return {};
    SHARDLAB_TRY(const std::int64_t address, snapshot_integer(tree_, block, "address", "a block"));
    SHARDLAB_TRY(const Bytes asked, size(block, "requested_size", "a block"));
    history.live_at_end.push_back(
        {static_cast<std::uint64_t>(address), asked, stream, taker_.origins().find(tree_, block)});
    return {};
  }

  const PickleTree& tree_;
  EventTaker& taker_;
  Bytes all_sizes_;
};

}  // namespace

Result<PickleSource> open_memory_history(const std::filesystem::path& file) {
  return PickleSource::open(file, k_memory_history_file);
}

Result<MemoryHistory> read_history_events(PickleSource pickle, std::optional<int> device) {
  EventTaker taker;
  SHARDLAB_TRY(const PickleTree tree,
               read_pickle(std::move(pickle), std::numeric_limits<std::size_t>::max(), &taker));
  return SnapshotReader(tree, taker).read(device);
}

}  // namespace shardlab

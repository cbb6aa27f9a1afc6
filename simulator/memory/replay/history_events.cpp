#include "simulator/memory/replay/history_events.h"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "engine/base/pickle_reader.h"
#include "simulator/memory/replay/block_origin.h"

namespace shardlab {
namespace {

constexpr std::array<std::pair<std::string_view, HistoryAction>, 8> k_actions = {{
    {"alloc", HistoryAction::alloc},
    {"free_requested", HistoryAction::free_requested},
    {"free_completed", HistoryAction::free_completed},
    {"segment_alloc", HistoryAction::segment_alloc},
    {"segment_free", HistoryAction::segment_free},
    {"segment_map", HistoryAction::segment_map},
    {"segment_unmap", HistoryAction::segment_unmap},
    {"oom", HistoryAction::oom},
}};

// What torch notes besides: neither gives nor takes memory.
bool is_remark(std::string_view action) {
  return action == "snapshot" || action == "user_defined" || action == "annotate";
}

class SnapshotReader {
 public:
  explicit SnapshotReader(const PickleTree& tree) : tree_(tree), origins_(tree) {}

  Result<MemoryHistory> read(std::optional<int> wanted) {
    SHARDLAB_TRY(const PickleIndex traces, member(tree_.root(), "device_traces", "the snapshot"));
    SHARDLAB_TRY(const int device, choose(tree_.items(traces), wanted));
    const std::vector<PickleIndex>& events =
        tree_.items(tree_.items(traces)[static_cast<std::size_t>(device)]);
    MemoryHistory history;
    for (std::size_t i = 0; i < events.size(); ++i)
      SHARDLAB_CHECK_OK(event(events[i], fmt::format("event {}", i + 1), history));
    SHARDLAB_CHECK_OK(segments(device, history));
    if (const auto settings = tree_.find(tree_.root(), "allocator_settings"))
      if (const auto text = tree_.find(*settings, "PYTORCH_CUDA_ALLOC_CONF"))
        history.options = std::string(tree_.text(*text).value_or(std::string_view()));
    history.origins = origins_.take_names();
    return history;
  }

 private:
  Result<PickleIndex> member(PickleIndex of, std::string_view key, std::string_view what) const {
    if (const auto found = tree_.find(of, key)) return *found;
    return bad_input({}, fmt::format("{} has no '{}'", what, key),
                     "torch.cuda.memory._dump_snapshot() writes such files");
  }
  Result<std::int64_t> integer(PickleIndex of, std::string_view key, std::string_view what) const {
    SHARDLAB_TRY(const PickleIndex value, member(of, key, what));
    if (const auto number = tree_.integer(value)) return *number;
    return bad_input({}, fmt::format("{}: '{}' is no whole number", what, key));
  }
  // Whoever reads on adds sizes up: the sum of all is a number.
  Result<Bytes> size(PickleIndex of, std::string_view key, std::string_view what) {
    constexpr Bytes k_most = {std::int64_t{1} << 60U};
    SHARDLAB_TRY(const std::int64_t number, integer(of, key, what));
    if (number < 0 || Bytes{number} > k_most - all_sizes_)
      return bad_input({}, fmt::format("{}: '{}' is no size: {}", what, key, number));
    all_sizes_ += Bytes{number};
    return Bytes{number};
  }

  // The device that is asked for, or the only one of which there are events.
  Result<int> choose(const std::vector<PickleIndex>& traces, std::optional<int> wanted) const {
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

  Status event(PickleIndex from, const std::string& what, MemoryHistory& history) {
    SHARDLAB_TRY(const PickleIndex named, member(from, "action", what));
    const std::string_view action = tree_.text(named).value_or("");
    if (is_remark(action)) return {};
    HistoryEvent event;
    bool known = false;
    for (const auto& [name, value] : k_actions)
      if (name == action) event.action = value, known = true;
    if (!known) return bad_input({}, fmt::format("{}: unknown action '{:.40}'", what, action));
    SHARDLAB_TRY(event.size, size(from, "size", what));
    SHARDLAB_TRY(event.stream.value, integer(from, "stream", what));
    if (event.action == HistoryAction::oom) {
      if (tree_.find(from, "device_free")) {
        SHARDLAB_TRY(event.device_free, size(from, "device_free", what));
      }
    } else {
      SHARDLAB_TRY(const std::int64_t address, integer(from, "addr", what));
      event.address = static_cast<std::uint64_t>(address);
    }
    if (const auto time = tree_.find(from, "time_us"))
      event.at = microseconds(1) * tree_.integer(*time).value_or(0);
    if (event.action == HistoryAction::alloc) event.origin = origins_.find(from);
    history.events.push_back(event);
    return {};
  }

  Status segments(int device, MemoryHistory& history) {
    Bytes reserved;
    SHARDLAB_TRY(const PickleIndex all, member(tree_.root(), "segments", "the snapshot"));
    for (const PickleIndex segment : tree_.items(all)) {
      SHARDLAB_TRY(const std::int64_t of, integer(segment, "device", "a segment"));
      if (of != device) continue;
      SHARDLAB_TRY(const Bytes total, size(segment, "total_size", "a segment"));
      SHARDLAB_TRY(const std::int64_t stream, integer(segment, "stream", "a segment"));
      SHARDLAB_TRY(const PickleIndex blocks, member(segment, "blocks", "a segment"));
      reserved += total;
      for (const PickleIndex block : tree_.items(blocks))
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

  Status live_block(PickleIndex block, AllocatorStream stream, MemoryHistory& history) {
    SHARDLAB_TRY(const PickleIndex state, member(block, "state", "a block"));
    if (tree_.text(state) != "active_allocated") return {};
    SHARDLAB_TRY(const std::int64_t address, integer(block, "address", "a block"));
    SHARDLAB_TRY(const Bytes asked, size(block, "requested_size", "a block"));
    history.live_at_end.push_back({static_cast<std::uint64_t>(address), asked, stream, origins_.find(block)});
    return {};
  }

  const PickleTree& tree_;
  BlockOrigins origins_;
  Bytes all_sizes_;
};

}  // namespace

Result<MemoryHistory> read_history_events(std::string pickle, std::optional<int> device) {
  SHARDLAB_TRY(const PickleTree tree, read_pickle(std::move(pickle)));
  return SnapshotReader(tree).read(device);
}

}  // namespace shardlab

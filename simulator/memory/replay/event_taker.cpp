#include "simulator/memory/replay/event_taker.h"

#include <array>
#include <utility>

#include <fmt/format.h>

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

constexpr std::int64_t k_remark = -1;  // instead of an event's place

std::optional<std::int64_t> taken_event(const PickleTree& tree, PickleValue value) {
  return tree.kind(value) == PickleKind::dictionary ? tree.taken(value) : std::nullopt;
}

}  // namespace

Result<PickleValue> snapshot_member(const PickleTree& tree, PickleValue of, std::string_view key,
                                    std::string_view what) {
  if (const auto found = tree.find(of, key)) return *found;
  return bad_input({}, fmt::format("{} has no '{}'", what, key),
                   "torch.cuda.memory._dump_snapshot() writes such files");
}

Result<std::int64_t> snapshot_integer(const PickleTree& tree, PickleValue of, std::string_view key,
                                      std::string_view what) {
  SHARDLAB_TRY(const PickleValue value, snapshot_member(tree, of, key, what));
  if (const auto number = tree.integer(value)) return *number;
  return bad_input({}, fmt::format("{}: '{}' is no whole number", what, key));
}

Result<Bytes> snapshot_size(const PickleTree& tree, PickleValue of, std::string_view key,
                            std::string_view what) {
  SHARDLAB_TRY(const std::int64_t number, snapshot_integer(tree, of, key, what));
  if (number < 0) return bad_input({}, fmt::format("{}: '{}' is no size: {}", what, key, number));
  return Bytes{number};
}

std::optional<std::int64_t> EventTaker::take(const PickleTree& tree, PickleValue container) {
  if (tree.kind(container) == PickleKind::list) return origins_.of_stack(tree, container);
  if (!tree.find(container, "action")) return std::nullopt;
  const auto event = read(tree, container, {});
  if (!event) return std::nullopt;
  if (!*event) return k_remark;
  events_.push_back(**event);
  return static_cast<std::int64_t>(events_.size() - 1);
}

Result<std::optional<HistoryEvent>> EventTaker::event(const PickleTree& tree, PickleValue of,
                                                      std::size_t number) {
  const auto taken = taken_event(tree, of);
  if (!taken) return read(tree, of, fmt::format("event {}", number));
  if (*taken == k_remark) return std::nullopt;
  return events_[static_cast<std::size_t>(*taken)];
}

Result<std::optional<HistoryEvent>> EventTaker::read(const PickleTree& tree, PickleValue of,
                                                     std::string_view what) {
  SHARDLAB_TRY(const PickleValue named, snapshot_member(tree, of, "action", what));
  const std::string_view action = tree.text(named).value_or("");
  if (is_remark(action)) return std::nullopt;
  HistoryEvent event;
  bool known = false;
  for (const auto& [name, value] : k_actions)
    if (name == action) event.action = value, known = true;
  if (!known) return bad_input({}, fmt::format("{}: unknown action '{:.40}'", what, action));
  SHARDLAB_TRY(event.size, snapshot_size(tree, of, "size", what));
  SHARDLAB_TRY(event.stream.value, snapshot_integer(tree, of, "stream", what));
  if (event.action != HistoryAction::oom) {
    SHARDLAB_TRY(const std::int64_t address, snapshot_integer(tree, of, "addr", what));
    event.address = static_cast<std::uint64_t>(address);
  } else if (tree.find(of, "device_free")) {
    SHARDLAB_TRY(const Bytes device_free, snapshot_size(tree, of, "device_free", what));
    event.set_device_free(device_free);
  }
  if (const auto time = tree.find(of, "time_us"))
    event.at = microseconds(1) * tree.integer(*time).value_or(0);
  if (event.action == HistoryAction::alloc) event.origin = origins_.find(tree, of);
  return event;
}

// In a snapshot of one device all events lie here in the order of the list: then none is copied.
HistoryEvents EventTaker::take_events(const PickleTree& tree, std::span<const PickleValue> list) {
  HistoryEvents events;
  std::optional<std::size_t> first;
  std::size_t next = 0;
  bool in_a_row = true;
  for (const PickleValue each : list) {
    const auto taken = taken_event(tree, each);
    if (taken == k_remark) continue;
    if (!first) first = next = static_cast<std::size_t>(taken.value_or(0));
    in_a_row = in_a_row && taken && static_cast<std::size_t>(*taken) == next++;
  }
  if (!in_a_row) {
    for (const PickleValue each : list)
      if (const auto known = event(tree, each, 0); known && *known) events.push_back(**known);
  } else if (first) {
    events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(next), events_.end());
    events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(*first));
    events.swap(events_);
  }
  return events;
}

}  // namespace shardlab

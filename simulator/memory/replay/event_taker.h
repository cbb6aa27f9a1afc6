// Takes the events of a snapshot while it is read: of a gigabyte of dictionaries no more than their essence
// is ever in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/base/pickle/pickle_taker.h"
#include "engine/base/result.h"
#include "simulator/memory/replay/block_origin.h"
#include "simulator/memory/replay/history_events.h"

namespace shardlab {

// The value of a key. bad_input where there is none, or it is no whole number; `what` is what lacks it.
Result<PickleValue> snapshot_member(const PickleTree& tree, PickleValue of, std::string_view key,
                                    std::string_view what);
Result<std::int64_t> snapshot_integer(const PickleTree& tree, PickleValue of, std::string_view key,
                                      std::string_view what);
// And it is not negative.
Result<Bytes> snapshot_size(const PickleTree& tree, PickleValue of, std::string_view key,
                            std::string_view what);

// What is in order, and stacks by the origin that they name. What is not stays in the tree: whoever reads it
// there knows which of the events it is.
class EventTaker final : public PickleTaker {
 public:
  std::optional<std::int64_t> take(const PickleTree& tree, PickleValue container) override;

  // One of a list of events: nothing for what has nothing to do with memory. bad_input for what is no event;
  // `number` is its place in the list, from 1.
  Result<std::optional<HistoryEvent>> event(const PickleTree& tree, PickleValue of, std::size_t number);
  // All of a list, each of which event() has answered. They are no longer here.
  HistoryEvents take_events(const PickleTree& tree, std::span<const PickleValue> list);

  BlockOrigins& origins() { return origins_; }

 private:
  Result<std::optional<HistoryEvent>> read(const PickleTree& tree, PickleValue of, std::string_view what);

  HistoryEvents events_;
  BlockOrigins origins_;
};

}  // namespace shardlab

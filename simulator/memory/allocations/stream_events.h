// When the events that frees leave on streams are done, by simulated times. Private to this folder.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/units.h"
#include "simulator/memory/allocations/noted_allocator.h"

namespace shardlab {

class StreamEvents {
 public:
  StreamEvents(NotedAllocator& allocator, std::size_t streams) : allocator_(allocator), streams_(streams) {
    for (std::size_t i = 0; i < streams; ++i) streams_[i].before = streams_[i].done = recorded(i);
  }

  // The host has come to this moment.
  void pass(Nanoseconds now) {
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      Queue& queue = streams_[i];
      const std::int64_t done = queue.done;
      while (queue.next < queue.ends.size() && queue.ends[queue.next] <= now) ++queue.next, ++queue.done;
      if (queue.done != done) allocator_.complete_events(stream(i), queue.done);
    }
  }

  // Work on the stream that ends then.
  void issued(StreamId id, Nanoseconds end) {
    streams_[id.index()].busy_until = std::max(streams_[id.index()].busy_until, end);
  }

  // A free() may have left events: each is done when all work issued to its stream so far is.
  void freed() {
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      Queue& queue = streams_[i];
      for (std::int64_t n = queue.before + static_cast<std::int64_t>(queue.ends.size()); n < recorded(i); ++n)
        queue.ends.push_back(queue.busy_until);
    }
  }

  // Everything has ended.
  void end() {
    for (std::size_t i = 0; i < streams_.size(); ++i) allocator_.complete_events(stream(i), recorded(i));
  }

 private:
  struct Queue {
    std::int64_t before = 0, done = 0;  // events of the stream: before this step, known to be done
    std::vector<Nanoseconds> ends;      // of this step's events
    std::size_t next = 0;
    Nanoseconds busy_until;
  };

  static AllocatorStream stream(std::size_t index) { return {static_cast<std::int64_t>(index)}; }
  std::int64_t recorded(std::size_t index) const { return allocator_.events_recorded(stream(index)); }

  NotedAllocator& allocator_;
  std::vector<Queue> streams_;
};

}  // namespace shardlab

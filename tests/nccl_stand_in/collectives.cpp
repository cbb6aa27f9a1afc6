#include "tests/nccl_stand_in/collectives.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "tests/nccl_stand_in/arithmetic.h"
#include "tests/nccl_stand_in/violations.h"

namespace stand_in {
namespace {

// False when the communicator was given up first.
template <typename Condition>
bool wait_until(const Communicator& communicator, Condition condition) {
  for (int tries = 0; !condition(); ++tries) {
    if (communicator.is_given_up()) return false;
    if (tries < 20) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
  return true;
}

const char* name(int kind) {
  switch (static_cast<Kind>(kind)) {
    case Kind::all_gather: return "an all-gather";
    case Kind::reduce_scatter: return "a reduce-scatter";
    case Kind::all_reduce: return "an all-reduce";
    case Kind::reduce: return "a reduce";
    default: return "a broadcast";
  }
}

std::string words(int rank, const Intent& intent) {
  return "rank " + std::to_string(rank) + " enqueues " + name(intent.kind) + " of " +
         std::to_string(intent.count) + " elements of type " + std::to_string(intent.element);
}

class Run {
 public:
  Run(Communicator& communicator, const Collective& collective)
      : communicator_(communicator),
        shared_(communicator.shared()),
        c_(collective),
        size_(element_bytes(collective.element)),
        intent_{static_cast<int>(collective.kind), collective.element, collective.reduction, collective.root,
                collective.count} {}

  void run() {
    if (c_.kind == Kind::reduce_scatter) {
      for (int owner = 0; owner < communicator_.ranks(); ++owner) {
        if (!scatter(owner)) return;
      }
      return;
    }
    for_chunks([&](std::size_t first, std::size_t count) {
      const bool shows = c_.kind != Kind::broadcast || communicator_.rank() == c_.root;
      return meet(shows ? c_.from + first * size_ : nullptr, count, [&] { take(first, count); });
    });
  }

 private:
  template <typename Body>
  bool for_chunks(Body body) {
    const std::size_t most = k_chunk / size_;
    for (std::size_t first = 0; first < std::max<std::size_t>(c_.count, 1); first += most) {
      if (!body(first, std::min(most, c_.count - first))) return false;
    }
    return true;
  }

  // The part of one rank, shown by all and added up by it.
  bool scatter(int owner) {
    return for_chunks([&](std::size_t first, std::size_t count) {
      const std::size_t part = static_cast<std::size_t>(owner) * c_.count + first;
      return meet(c_.from + part * size_, count, [&] {
        if (owner == communicator_.rank())
          reduce(c_.to + first * size_, shown(), count, c_.element, c_.reduction);
      });
    });
  }

  // Shows `count` elements from `own`, meets the others, does `read` and meets them again, so that nobody
  // shows anything else before all have read.
  template <typename Read>
  bool meet(const std::byte* own, std::size_t count, Read read) {
    Desk& desk = shared_.desks[static_cast<std::size_t>(communicator_.rank())];
    desk.intent = intent_;
    if (own != nullptr) std::memcpy(desk.shown.data(), own, count * size_);
    if (!arrive(desk)) return false;
    if (!agrees()) return false;
    read();
    return arrive(desk);
  }

  bool arrive(Desk& desk) {
    const std::uint64_t meeting = desk.arrived.load(std::memory_order_relaxed) + 1;
    desk.arrived.store(meeting, std::memory_order_release);
    for (int peer = 0; peer < communicator_.ranks(); ++peer) {
      const std::atomic<std::uint64_t>& arrived = shared_.desks[static_cast<std::size_t>(peer)].arrived;
      if (!wait_until(communicator_, [&] { return arrived.load(std::memory_order_acquire) >= meeting; }))
        return false;
    }
    return true;
  }

  bool agrees() {
    for (int peer = 0; peer < communicator_.ranks(); ++peer) {
      const Intent& theirs = shared_.desks[static_cast<std::size_t>(peer)].intent;
      if (theirs == intent_) continue;
      violate("members do not enqueue the same: " + words(communicator_.rank(), intent_) + ", " +
              words(peer, theirs));
      return false;
    }
    return true;
  }

  std::vector<const std::byte*> shown() const {
    std::vector<const std::byte*> all;
    for (int peer = 0; peer < communicator_.ranks(); ++peer)
      all.push_back(shared_.desks[static_cast<std::size_t>(peer)].shown.data());
    return all;
  }

  void take(std::size_t first, std::size_t count) {
    const std::vector<const std::byte*> all = shown();
    const auto rank = [](int number) { return static_cast<std::size_t>(number); };
    switch (c_.kind) {
      case Kind::all_gather:
        for (std::size_t peer = 0; peer < all.size(); ++peer)
          std::memcpy(c_.to + (peer * c_.count + first) * size_, all[peer], count * size_);
        break;
      case Kind::reduce:
        if (communicator_.rank() != c_.root) break;
        [[fallthrough]];
      case Kind::all_reduce: reduce(c_.to + first * size_, all, count, c_.element, c_.reduction); break;
      default: std::memcpy(c_.to + first * size_, all[rank(c_.root)], count * size_); break;
    }
  }

  Communicator& communicator_;
  Shared& shared_;
  const Collective& c_;
  const std::size_t size_;
  const Intent intent_;
};

// One message, as far as it has come.
struct Progress {
  const Message* message = nullptr;
  std::size_t moved = 0;
  bool begun = false;
  bool is_done() const { return begun && moved == message->bytes; }
};

bool put(Progress& p, Mailbox& box) {
  if (box.sent.load(std::memory_order_relaxed) != box.taken.load(std::memory_order_acquire)) return false;
  const std::size_t part = std::min(k_letter, p.message->bytes - p.moved);
  box.message_bytes = p.message->bytes;
  std::memcpy(box.letter.data(), p.message->sent + p.moved, part);
  p.moved += part;
  p.begun = true;
  box.sent.fetch_add(1, std::memory_order_release);
  return true;
}

bool fetch(Progress& p, Mailbox& box, int rank) {
  if (box.sent.load(std::memory_order_acquire) == box.taken.load(std::memory_order_relaxed)) return false;
  if (box.message_bytes != p.message->bytes) {
    violate("rank " + std::to_string(p.message->peer) + " sends " + std::to_string(box.message_bytes) +
            " bytes, rank " + std::to_string(rank) + " receives " + std::to_string(p.message->bytes));
  }
  const std::size_t part = std::min({k_letter, p.message->bytes - p.moved, box.message_bytes - p.moved});
  std::memcpy(p.message->received + p.moved, box.letter.data(), part);
  p.moved += part;
  p.begun = true;
  box.taken.fetch_add(1, std::memory_order_release);
  return true;
}

}  // namespace

void run(Communicator& communicator, const Collective& collective) {
  Run(communicator, collective).run();
}

void run(Communicator& communicator, const std::vector<Message>& messages) {
  std::vector<Progress> all;
  for (const Message& message : messages) all.push_back({&message, 0, false});
  auto& mail = communicator.shared().mail;
  const auto own = static_cast<std::size_t>(communicator.rank());
  wait_until(communicator, [&] {
    bool done = true;
    for (Progress& p : all) {
      const auto peer = static_cast<std::size_t>(p.message->peer);
      while (!p.is_done() && (p.message->sent != nullptr ? put(p, mail[own][peer])
                                                         : fetch(p, mail[peer][own], communicator.rank()))) {
      }
      done = done && p.is_done();
    }
    return done;
  });
}

}  // namespace stand_in

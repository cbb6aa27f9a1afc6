// NCCL's functions. Names and arguments are those of nccl.h 2.28.9.
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/execute/nccl/nccl_api.h"
#include "tests/nccl_stand_in/arithmetic.h"
#include "tests/nccl_stand_in/collectives.h"
#include "tests/nccl_stand_in/stand_in.h"
#include "tests/nccl_stand_in/streams.h"
#include "tests/nccl_stand_in/violations.h"

namespace stand_in {
namespace {

using shardlab::nccl::CommHandle;
using shardlab::nccl::Config;
using shardlab::nccl::Outcome;
using shardlab::nccl::UniqueId;

Communicator& of(CommHandle handle) {
  return *reinterpret_cast<Communicator*>(handle);
}

// What a thread enqueues between the beginning and the end of a group.
struct GroupCalls {
  int depth = 0;
  struct Messages {
    Communicator* communicator;
    void* stream;
    std::vector<Message> messages;
  };
  std::vector<Messages> messages;

  ~GroupCalls() {
    if (depth > 0) violate("a thread ends and leaves a group open");
  }
};
thread_local GroupCalls group;

Outcome answer(const Communicator& communicator) {
  if (communicator.is_given_up()) return Outcome::internal_error;
  return communicator.is_blocking() ? Outcome::success : Outcome::in_progress;
}

void enqueue_on(Communicator& communicator, void* stream, std::function<void()> work) {
  communicator.add_work();
  enqueue(stream, [&communicator, work = std::move(work)] {
    work();
    communicator.note_done();
  });
}

Outcome add(CommHandle handle, const char* what, const Collective& collective, void* stream) {
  if (handle == nullptr || element_bytes(collective.element) == 0 || collective.from == nullptr ||
      collective.to == nullptr)
    return Outcome::invalid_argument;
  Communicator& communicator = of(handle);
  if (!communicator.begin(what)) return Outcome::internal_error;
  if (group.depth > 0) violate(std::string(what) + " in a group: nobody here does that");
  enqueue_on(communicator, stream, [&communicator, collective] { run(communicator, collective); });
  communicator.end();
  return answer(communicator);
}

Outcome add(CommHandle handle, const char* what, const Message& message, void* stream) {
  if (handle == nullptr) return Outcome::invalid_argument;
  Communicator& communicator = of(handle);
  if (message.peer < 0 || message.peer >= communicator.ranks()) return Outcome::invalid_argument;
  if (!communicator.begin(what)) return Outcome::internal_error;
  if (group.depth == 0) {
    enqueue_on(communicator, stream, [&communicator, message] { run(communicator, std::vector{message}); });
  } else {
    GroupCalls::Messages* list = nullptr;
    for (GroupCalls::Messages& known : group.messages) {
      if (known.communicator == &communicator && known.stream == stream) list = &known;
    }
    if (list == nullptr) list = &group.messages.emplace_back(GroupCalls::Messages{&communicator, stream, {}});
    list->messages.push_back(message);
  }
  communicator.end();
  return answer(communicator);
}

// Reachable to the end, so that nobody takes them for lost.
Communicator* keep(Communicator* made) {
  static auto* mutex = new std::mutex;
  static auto* all = new std::vector<Communicator*>;
  const std::lock_guard lock(*mutex);
  all->push_back(made);
  return made;
}

std::string segment_name(const UniqueId& id) {
  return std::string(id.bytes.data());
}

}  // namespace
}  // namespace stand_in

using namespace stand_in;  // NOLINT: the functions below have C linkage and stand in no namespace

extern "C" {

Outcome ncclGetVersion(int* version) {
  *version = 22809;
  return Outcome::success;
}

Outcome ncclGetUniqueId(UniqueId* id) {
  std::random_device random;
  const std::string name = "/nccl_stand_in_" + std::to_string(::getpid()) + "_" + std::to_string(random()) +
                           std::to_string(random());
  *id = {};
  std::memcpy(id->bytes.data(), name.data(), name.size());
  return Outcome::success;
}

// Blocks until all ranks have come, however long that takes.
Outcome ncclCommInitRankConfig(CommHandle* handle, int ranks, UniqueId id, int rank, Config* config) {
  if (ranks < 1 || ranks > k_most_ranks || rank < 0 || rank >= ranks) return Outcome::invalid_argument;
  if (config == nullptr || config->magic != 0xcafebeef) return Outcome::invalid_argument;
  Shared* shared = open_segment(segment_name(id));
  if (shared == nullptr) return Outcome::system_error;
  int first = 0;
  if (!shared->ranks.compare_exchange_strong(first, ranks) && first != ranks) return Outcome::invalid_usage;
  if (shared->attached.fetch_add(1) + 1 == ranks) forget_segment(segment_name(id));
  while (shared->attached < ranks) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  Communicator* made = keep(new Communicator(shared, rank, ranks, config->blocking != 0));
  *handle = reinterpret_cast<CommHandle>(made);
  return answer(*made);
}

// A communicator that blocks may be asked by any thread. One that does not ends its last call here, so that
// this is a call like any other (src/init.cc, ncclGroupJobComplete).
Outcome ncclCommGetAsyncError(CommHandle handle, Outcome* error) {
  Communicator& communicator = of(handle);
  if (communicator.is_blocking()) {
    if (!communicator.is_there("ncclCommGetAsyncError")) return Outcome::invalid_argument;
  } else {
    if (!communicator.begin("ncclCommGetAsyncError")) return Outcome::invalid_argument;
    communicator.end();
  }
  *error = static_cast<Outcome>(communicator.error());
  return Outcome::success;
}

Outcome ncclCommAbort(CommHandle handle) {
  return of(handle).finish("ncclCommAbort", true) ? Outcome::success : Outcome::invalid_argument;
}

// Waits for what is enqueued, as the real one: without end where a peer is gone.
Outcome ncclCommDestroy(CommHandle handle) {
  Communicator& communicator = of(handle);
  while (communicator.has_work()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return communicator.finish("ncclCommDestroy", false) ? Outcome::success : Outcome::invalid_argument;
}

Outcome ncclAllGather(const void* own, void* gathered, std::size_t count, int element,
                      CommHandle communicator, void* stream) {
  return add(communicator, "ncclAllGather",
             Collective{Kind::all_gather, static_cast<const std::byte*>(own),
                        static_cast<std::byte*>(gathered), count, element, 0, 0},
             stream);
}

Outcome ncclReduceScatter(const void* full, void* own, std::size_t count, int element, int reduction,
                          CommHandle communicator, void* stream) {
  return add(communicator, "ncclReduceScatter",
             Collective{Kind::reduce_scatter, static_cast<const std::byte*>(full),
                        static_cast<std::byte*>(own), count, element, reduction, 0},
             stream);
}

Outcome ncclAllReduce(const void* from, void* to, std::size_t count, int element, int reduction,
                      CommHandle communicator, void* stream) {
  return add(communicator, "ncclAllReduce",
             Collective{Kind::all_reduce, static_cast<const std::byte*>(from), static_cast<std::byte*>(to),
                        count, element, reduction, 0},
             stream);
}

Outcome ncclReduce(const void* from, void* to, std::size_t count, int element, int reduction, int root,
                   CommHandle communicator, void* stream) {
  return add(communicator, "ncclReduce",
             Collective{Kind::reduce, static_cast<const std::byte*>(from), static_cast<std::byte*>(to), count,
                        element, reduction, root},
             stream);
}

Outcome ncclBroadcast(const void* from, void* to, std::size_t count, int element, int root,
                      CommHandle communicator, void* stream) {
  return add(communicator, "ncclBroadcast",
             Collective{Kind::broadcast, static_cast<const std::byte*>(from), static_cast<std::byte*>(to),
                        count, element, 0, root},
             stream);
}

Outcome ncclSend(const void* sent, std::size_t count, int element, int peer, CommHandle communicator,
                 void* stream) {
  return add(communicator, "ncclSend",
             Message{peer, static_cast<const std::byte*>(sent), nullptr, count * element_bytes(element)},
             stream);
}

Outcome ncclRecv(void* received, std::size_t count, int element, int peer, CommHandle communicator,
                 void* stream) {
  return add(communicator, "ncclRecv",
             Message{peer, nullptr, static_cast<std::byte*>(received), count * element_bytes(element)},
             stream);
}

Outcome ncclGroupStart() {
  ++group.depth;
  return Outcome::success;
}

Outcome ncclGroupEnd() {
  if (group.depth == 0) {
    violate("ncclGroupEnd without ncclGroupStart in this thread");
    return Outcome::invalid_usage;
  }
  if (--group.depth > 0) return Outcome::success;
  Outcome outcome = Outcome::success;
  for (GroupCalls::Messages& each : std::exchange(group.messages, {})) {
    Communicator& communicator = *each.communicator;
    if (!communicator.begin("ncclGroupEnd")) return Outcome::internal_error;
    enqueue_on(communicator, each.stream,
               [&communicator, messages = std::move(each.messages)] { run(communicator, messages); });
    communicator.end();
    outcome = answer(communicator);
  }
  return outcome;
}

const char* ncclGetErrorString(Outcome outcome) {
  switch (outcome) {
    case Outcome::success: return "no error";
    case Outcome::unhandled_cuda_error: return "unhandled cuda error";
    case Outcome::system_error: return "unhandled system error";
    case Outcome::internal_error: return "internal error";
    case Outcome::invalid_argument: return "invalid argument";
    case Outcome::invalid_usage: return "invalid usage";
    case Outcome::remote_error: return "remote process exited or there was a network error";
    default: return "NCCL operation in progress";
  }
}

const char* ncclGetLastError(CommHandle) {
  return standInViolation();
}

void standInSetError(void* communicator, int outcome) {
  of(static_cast<CommHandle>(communicator)).set_error(outcome);
}

int standInVersion() {
  int version = 0;
  (void)ncclGetVersion(&version);
  return version;
}

void standInHold(void* communicator) {
  of(static_cast<CommHandle>(communicator)).hold();
}

}  // extern "C"

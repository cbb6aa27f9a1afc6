#include "engine/base/in_parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace shardlab {
namespace {

// What the threads share: the next element, and what the first that failed threw.
struct Shared {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr thrown;
};

void work_on(Shared& shared, std::size_t count, const std::function<void(std::size_t)>& work) {
  try {
    for (std::size_t i = shared.next++; i < count; i = shared.next++) work(i);
  } catch (...) {
    shared.next = count;
    const std::scoped_lock lock(shared.mutex);
    if (!shared.thrown) shared.thrown = std::current_exception();
  }
}

}  // namespace

void in_parallel(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  Shared shared;
  {
    std::vector<std::jthread> others;
    const auto wanted = std::min(static_cast<std::size_t>(std::max(threads, 1)), count);
    others.reserve(wanted);
    try {
      for (std::size_t i = 1; i < wanted; ++i) others.emplace_back([&] { work_on(shared, count, work); });
    } catch (const std::system_error&) {
      // The machine gives no more threads: those that there are do it.
    }
    work_on(shared, count, work);
  }
  if (shared.thrown) std::rethrow_exception(shared.thrown);
}

}  // namespace shardlab

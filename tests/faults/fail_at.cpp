#include "tests/faults/fail_at.h"

#include <execinfo.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace shardlab::faults {
namespace {

struct Order {
  std::atomic<std::uint64_t>* counts = nullptr;  // shared with the test, so that they outlive the process
  std::size_t call = k_calls.size();             // none
  std::uint64_t at = 0;
  int error = 0;
  int signal = 0;
  bool is_short = false;
  bool onwards = false;
  bool is_shown = false;
};

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool is_meant() {
  char path[4096] = {};
  const long length = syscall(SYS_readlink, "/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return false;
  const char* name = std::strrchr(path, '/');
  if (std::strcmp(variable("SHARDLAB_FAULT_PROGRAM"), name != nullptr ? name + 1 : path) != 0) return false;
  const char* rank = variable("SHARDLAB_FAULT_RANK");
  return *rank == '\0' || std::strcmp(rank, variable("RANK")) == 0;
}

// System calls are made directly: what the library offers is what is counted here.
std::atomic<std::uint64_t>* shared_counts() {
  const char* file = variable("SHARDLAB_FAULT_COUNTS");
  const long descriptor = syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  const std::size_t size = (k_calls.size() + 1) * sizeof(std::uint64_t);
  const long place = syscall(SYS_mmap, nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  syscall(SYS_close, descriptor);
  return place < 0 && place > -4096 ? nullptr : reinterpret_cast<std::atomic<std::uint64_t>*>(place);
}

Order read_order() {
  Order order;
  if (!is_meant()) return order;
  order.counts = shared_counts();
  const std::string_view call = variable("SHARDLAB_FAULT_CALL");
  if (call.empty()) return order;
  order.call = index_of(call);
  order.at = std::strtoull(variable("SHARDLAB_FAULT_AT"), nullptr, 10);
  const char* how = variable("SHARDLAB_FAULT_HOW");
  order.is_short = std::strcmp(how, "short") == 0;
  if (std::strncmp(how, "signal ", 7) == 0)
    order.signal = std::atoi(how + 7);
  else
    order.error = std::atoi(how);
  order.is_shown = *variable("SHARDLAB_FAULT_SHOW") != '\0';
  order.onwards = std::strstr(how, "onwards") != nullptr;
  return order;
}

void show_callers() {
  std::array<void*, 40> callers{};
  backtrace_symbols_fd(callers.data(), backtrace(callers.data(), static_cast<int>(callers.size())),
                       STDERR_FILENO);
}

// Read before main and before other threads.
Order order;
bool is_ready = false;
thread_local bool is_uncounted = false;

}  // namespace

void begin() {
  order = read_order();
  is_ready = order.counts != nullptr;
}

Uncounted::Uncounted() {
  is_uncounted = true;
}
Uncounted::~Uncounted() {
  is_uncounted = false;
}

Fault next_call(std::size_t call) {
  if (!is_ready || is_uncounted) return Fault::none;
  const std::uint64_t number = order.counts[call].fetch_add(1) + 1;
  if (call != order.call || number < order.at || (number > order.at && !order.onwards)) return Fault::none;
  order.counts[k_calls.size()].fetch_add(1);
  if (order.is_shown) show_callers();
  if (order.signal != 0) {
    syscall(SYS_kill, syscall(SYS_getpid), order.signal);
    return Fault::none;
  }
  if (order.is_short) return Fault::is_short;
  errno = order.error;
  return Fault::fails;
}

}  // namespace shardlab::faults

// Which call of the C library fails next: read once from the environment of the process, counted for all its
// threads. The variables are in README.md.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace shardlab::faults {

inline constexpr std::array<std::string_view, 55> k_calls{
    "open",        "fopen",       "read",           "pread",         "readv",  "write",    "pwrite",
    "writev",      "fsync",       "fdatasync",      "truncate",      "rename", "unlink",   "mkdir",
    "rmdir",       "close",       "lseek",          "stat",          "access", "mmap",     "fcntl",
    "flock",       "opendir",     "readdir",        "chmod",         "link",   "readlink", "realpath",
    "getcwd",      "mkdtemp",     "mkstemp",        "fallocate",     "dup",    "socket",   "setsockopt",
    "bind",        "listen",      "accept",         "connect",       "send",   "recv",     "poll",
    "getaddrinfo", "getsockname", "socketpair",     "pipe",          "fork",   "execve",   "posix_spawn",
    "waitpid",     "kill",        "pthread_create", "clock_gettime", "new",    "sendmsg"};

enum class Fault { none, fails, is_short };

constexpr std::size_t index_of(std::string_view call) {
  for (std::size_t i = 0; i < k_calls.size(); ++i)
    if (k_calls[i] == call) return i;
  throw "no such call";
}

// Reads the environment. Calls before it are not counted.
void begin();

// As long as one lives, what its thread calls is neither counted nor fails.
class Uncounted {
 public:
  Uncounted();
  ~Uncounted();
  Uncounted(const Uncounted&) = delete;
  Uncounted& operator=(const Uncounted&) = delete;
};

// Counts one call. With Fault::fails errno is set; a signal is sent before it returns.
Fault next_call(std::size_t call);

}  // namespace shardlab::faults

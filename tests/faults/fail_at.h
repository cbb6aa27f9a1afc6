// Which call of the C library fails next: read once from the environment of the process, counted for all its
// threads.
//
//   SHARDLAB_FAULT_PROGRAM  file name of the program that is meant; others of the run stay as they are
//   SHARDLAB_FAULT_RANK     where it is set: the process whose RANK is this one
//   SHARDLAB_FAULT_COUNTS   a file of k_calls.size() + 1 numbers of 64 bits: calls so far by name, and how
//   often one failed SHARDLAB_FAULT_CALL     the call, by its name in k_calls SHARDLAB_FAULT_AT       the
//   number of the call, from 1 SHARDLAB_FAULT_HOW      a number: errno; "short": half of the bytes; "signal
//   N": the process gets this signal first;
//                           a number and "onwards": every call from this one on
//   SHARDLAB_FAULT_SHOW     where it is set: who called is written to stderr (addr2line -Cfe PROGRAM tells the names)
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

// Counts one call. With Fault::fails errno is set; a signal is sent before it returns.
Fault next_call(std::size_t call);

}  // namespace shardlab::faults

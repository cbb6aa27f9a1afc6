// The calls of the C library that can be made to fail, in the place of the library's own: loaded before it.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "tests/faults/fail_at.h"

using shardlab::faults::Fault;
using shardlab::faults::index_of;
using shardlab::faults::next_call;

namespace {

template <class Function>
Function* library_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// A function of another name stands under the library's: its declarations differ in attributes, and some take
// any number of arguments.
#define COUNTED(result, name, parameters)                     \
  extern "C" result counted_##name parameters __asm__(#name); \
  extern "C" result counted_##name parameters

#define CALL_LIBRARY(name, ...)                                                      \
  static auto* const in_library = library_function<decltype(counted_##name)>(#name); \
  return in_library(__VA_ARGS__)

// FAILS(counted as, what a failure returns, result, name, parameters, arguments)
#define FAILS(kind, failure, result, name, parameters, ...)        \
  COUNTED(result, name, parameters) {                              \
    if (next_call(index_of(kind)) == Fault::fails) return failure; \
    CALL_LIBRARY(name, __VA_ARGS__);                               \
  }

// Calls that move up to `size` bytes may also do half of it.
#define MOVES(kind, name, parameters, size, ...)                     \
  COUNTED(ssize_t, name, parameters) {                               \
    const Fault fault = next_call(index_of(kind));                   \
    if (fault == Fault::fails) return -1;                            \
    if (fault == Fault::is_short && size > 1) size = (size + 1) / 2; \
    CALL_LIBRARY(name, __VA_ARGS__);                                 \
  }

FAILS("fopen", nullptr, FILE*, fopen, (const char* path, const char* mode), path, mode)
FAILS("fopen", nullptr, FILE*, fopen64, (const char* path, const char* mode), path, mode)
FAILS("open", -1, int, open, (const char* path, int flags, mode_t mode), path, flags, mode)
FAILS("open", -1, int, open64, (const char* path, int flags, mode_t mode), path, flags, mode)
FAILS("open", -1, int, openat, (int folder, const char* path, int flags, mode_t mode), folder, path, flags,
      mode)
FAILS("open", -1, int, openat64, (int folder, const char* path, int flags, mode_t mode), folder, path, flags,
      mode)
MOVES("read", read, (int file, void* data, size_t size), size, file, data, size)
MOVES("pread", pread, (int file, void* data, size_t size, off_t at), size, file, data, size, at)
MOVES("pread", pread64, (int file, void* data, size_t size, off64_t at), size, file, data, size, at)
FAILS("readv", -1, ssize_t, readv, (int file, const iovec* parts, int count), file, parts, count)
MOVES("write", write, (int file, const void* data, size_t size), size, file, data, size)
MOVES("pwrite", pwrite, (int file, const void* data, size_t size, off_t at), size, file, data, size, at)
MOVES("pwrite", pwrite64, (int file, const void* data, size_t size, off64_t at), size, file, data, size, at)
FAILS("writev", -1, ssize_t, writev, (int file, const iovec* parts, int count), file, parts, count)
FAILS("fsync", -1, int, fsync, (int file), file)
FAILS("fdatasync", -1, int, fdatasync, (int file), file)
FAILS("truncate", -1, int, truncate, (const char* path, off_t size), path, size)
FAILS("truncate", -1, int, ftruncate, (int file, off_t size), file, size)
FAILS("truncate", -1, int, ftruncate64, (int file, off64_t size), file, size)
FAILS("rename", -1, int, rename, (const char* from, const char* to), from, to)
FAILS("rename", -1, int, renameat, (int from_folder, const char* from, int to_folder, const char* to),
      from_folder, from, to_folder, to)
FAILS("unlink", -1, int, unlink, (const char* path), path)
FAILS("unlink", -1, int, unlinkat, (int folder, const char* path, int flags), folder, path, flags)
FAILS("unlink", -1, int, remove, (const char* path), path)
FAILS("mkdir", -1, int, mkdir, (const char* path, mode_t mode), path, mode)
FAILS("rmdir", -1, int, rmdir, (const char* path), path)
FAILS("lseek", -1, off_t, lseek, (int file, off_t at, int whence), file, at, whence)
FAILS("lseek", -1, off64_t, lseek64, (int file, off64_t at, int whence), file, at, whence)
FAILS("stat", -1, int, stat, (const char* path, struct stat* found), path, found)
FAILS("stat", -1, int, stat64, (const char* path, struct stat64* found), path, found)
FAILS("stat", -1, int, lstat, (const char* path, struct stat* found), path, found)
FAILS("stat", -1, int, lstat64, (const char* path, struct stat64* found), path, found)
FAILS("stat", -1, int, fstat, (int file, struct stat* found), file, found)
FAILS("stat", -1, int, fstat64, (int file, struct stat64* found), file, found)
FAILS("stat", -1, int, fstatat, (int folder, const char* path, struct stat* found, int flags), folder, path,
      found, flags)
FAILS("access", -1, int, access, (const char* path, int mode), path, mode)
FAILS("mmap", MAP_FAILED, void*, mmap,
      (void* place, size_t size, int protection, int flags, int file, off_t at), place, size, protection,
      flags, file, at)
FAILS("mmap", MAP_FAILED, void*, mmap64,
      (void* place, size_t size, int protection, int flags, int file, off64_t at), place, size, protection,
      flags, file, at)
FAILS("fcntl", -1, int, fcntl, (int file, int command, void* argument), file, command, argument)
FAILS("fcntl", -1, int, fcntl64, (int file, int command, void* argument), file, command, argument)
FAILS("flock", -1, int, flock, (int file, int operation), file, operation)
FAILS("opendir", nullptr, DIR*, opendir, (const char* path), path)
FAILS("readdir", nullptr, dirent*, readdir, (DIR * folder), folder)
FAILS("readdir", nullptr, dirent64*, readdir64, (DIR * folder), folder)
FAILS("chmod", -1, int, chmod, (const char* path, mode_t mode), path, mode)
FAILS("chmod", -1, int, fchmod, (int file, mode_t mode), file, mode)
FAILS("chmod", -1, int, fchmodat, (int folder, const char* path, mode_t mode, int flags), folder, path, mode,
      flags)
FAILS("link", -1, int, link, (const char* from, const char* to), from, to)
FAILS("link", -1, int, symlink, (const char* from, const char* to), from, to)
FAILS("readlink", -1, ssize_t, readlink, (const char* path, char* target, size_t size), path, target, size)
FAILS("realpath", nullptr, char*, realpath, (const char* path, char* resolved), path, resolved)
FAILS("getcwd", nullptr, char*, getcwd, (char* path, size_t size), path, size)
FAILS("mkdtemp", nullptr, char*, mkdtemp, (char* pattern), pattern)
FAILS("mkstemp", -1, int, mkstemp, (char* pattern), pattern)
FAILS("mkstemp", -1, int, mkostemp, (char* pattern, int flags), pattern, flags)
FAILS("fallocate", -1, int, fallocate, (int file, int mode, off_t at, off_t size), file, mode, at, size)
FAILS("fallocate", errno, int, posix_fallocate, (int file, off_t at, off_t size), file, at, size)
FAILS("dup", -1, int, dup, (int file), file)
FAILS("dup", -1, int, dup2, (int file, int as), file, as)
FAILS("socket", -1, int, socket, (int domain, int type, int protocol), domain, type, protocol)
FAILS("setsockopt", -1, int, setsockopt, (int file, int level, int option, const void* value, socklen_t size),
      file, level, option, value, size)
FAILS("bind", -1, int, bind, (int file, const sockaddr* address, socklen_t size), file, address, size)
FAILS("listen", -1, int, listen, (int file, int most), file, most)
FAILS("accept", -1, int, accept, (int file, sockaddr* address, socklen_t* size), file, address, size)
FAILS("accept", -1, int, accept4, (int file, sockaddr* address, socklen_t* size, int flags), file, address,
      size, flags)
FAILS("connect", -1, int, connect, (int file, const sockaddr* address, socklen_t size), file, address, size)
MOVES("send", send, (int file, const void* data, size_t size, int flags), size, file, data, size, flags)
FAILS("sendmsg", -1, ssize_t, sendmsg, (int file, const msghdr* message, int flags), file, message, flags)
MOVES("recv", recv, (int file, void* data, size_t size, int flags), size, file, data, size, flags)
FAILS("poll", -1, int, poll, (pollfd * files, nfds_t count, int wait), files, count, wait)
FAILS("getaddrinfo", EAI_SYSTEM, int, getaddrinfo,
      (const char* node, const char* service, const addrinfo* hints, addrinfo** found), node, service, hints,
      found)
FAILS("getsockname", -1, int, getsockname, (int file, sockaddr* address, socklen_t* size), file, address,
      size)
FAILS("socketpair", -1, int, socketpair, (int domain, int type, int protocol, int files[2]), domain, type,
      protocol, files)
FAILS("pipe", -1, int, pipe, (int files[2]), files)
FAILS("pipe", -1, int, pipe2, (int files[2], int flags), files, flags)
FAILS("fork", -1, pid_t, fork, (), )
FAILS("execve", -1, int, execve, (const char* path, char* const arguments[], char* const environment[]), path,
      arguments, environment)
FAILS("execve", -1, int, execv, (const char* path, char* const arguments[]), path, arguments)
FAILS("execve", -1, int, execvp, (const char* path, char* const arguments[]), path, arguments)
FAILS("posix_spawn", errno, int, posix_spawn,
      (pid_t * child, const char* path, const posix_spawn_file_actions_t* actions,
       const posix_spawnattr_t* attributes, char* const arguments[], char* const environment[]),
      child, path, actions, attributes, arguments, environment)
FAILS("waitpid", -1, pid_t, waitpid, (pid_t child, int* status, int options), child, status, options)
FAILS("kill", -1, int, kill, (pid_t process, int signal), process, signal)
FAILS("pthread_create", errno, int, pthread_create,
      (pthread_t * thread, const pthread_attr_t* attributes, void* (*function)(void*), void* argument),
      thread, attributes, function, argument)

// The file is closed all the same, as Linux does where close() fails.
COUNTED(int, close, (int file)) {
  const Fault fault = next_call(index_of("close"));
  static auto* const in_library = library_function<decltype(counted_close)>("close");
  const int error = errno;
  const int result = in_library(file);
  if (fault != Fault::fails) return result;
  errno = error;
  return -1;
}

// A clock that jumps by a day, both ways in turn; only those that tell the date may.
namespace {

time_t jump() {
  static bool forwards = false;
  if (next_call(index_of("clock_gettime")) != Fault::fails) return 0;
  return (forwards = !forwards) ? 86400 : -86400;
}

}  // namespace

COUNTED(int, clock_gettime, (clockid_t clock, timespec* now)) {
  static auto* const in_library = library_function<decltype(counted_clock_gettime)>("clock_gettime");
  const int result = in_library(clock, now);
  if (clock == CLOCK_REALTIME) now->tv_sec += jump();
  return result;
}

COUNTED(int, gettimeofday, (timeval * now, void* zone)) {
  static auto* const in_library = library_function<decltype(counted_gettimeofday)>("gettimeofday");
  const int result = in_library(now, zone);
  now->tv_sec += jump();
  return result;
}

COUNTED(time_t, time, (time_t * now)) {
  static auto* const in_library = library_function<decltype(counted_time)>("time");
  const time_t result = in_library(nullptr) + jump();
  if (now != nullptr) *now = result;
  return result;
}

namespace {

using Main = int(int, char**, char**);
Main* own_main = nullptr;

int counted_main(int count, char** arguments, char** environment) {
  shardlab::faults::begin();
  return own_main(count, arguments, environment);
}

}  // namespace

// Where a program begins. What libraries do before its main is theirs to answer for.
COUNTED(int, __libc_start_main,
        (Main * program, int count, char** arguments, void (*init)(), void (*fini)(), void (*rtld_fini)(),
         void* stack)) {
  own_main = program;
  CALL_LIBRARY(__libc_start_main, counted_main, count, arguments, init, fini, rtld_fini, stack);
}

void* operator new(std::size_t size) {
  if (next_call(index_of("new")) == Fault::fails) throw std::bad_alloc();
  if (void* place = std::malloc(size == 0 ? 1 : size)) return place;
  throw std::bad_alloc();
}

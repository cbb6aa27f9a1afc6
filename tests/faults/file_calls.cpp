// Calls about files and folders.
#include "tests/faults/counted_call.h"

#include <dirent.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>

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

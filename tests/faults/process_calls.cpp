// Calls about processes, threads and pipes between them.
#include "tests/faults/counted_call.h"

#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <cerrno>

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

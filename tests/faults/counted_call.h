// How a call of the C library is put in the place of the library's own, counted, and made to fail. For the
// sources of this folder alone: it leaves names in the global namespace.
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <sys/types.h>

#include "tests/faults/fail_at.h"

using shardlab::faults::Fault;
using shardlab::faults::index_of;
using shardlab::faults::next_call;

template <class Function>
Function* library_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

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

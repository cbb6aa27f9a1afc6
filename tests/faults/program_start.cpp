// Where a program begins, and its heap.
#include <cstdlib>
#include <new>

#include "tests/faults/counted_call.h"

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

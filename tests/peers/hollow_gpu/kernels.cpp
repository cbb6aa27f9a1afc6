// The CUDA runtime's functions on kernels, and what the compiler's own registration of them calls: none is
// run.
#include <cstring>

#include "tests/peers/hollow_gpu/gpu.h"

using hollow::FunctionAttributes;
using hollow::good;
using hollow::Size;

extern "C" {

void** __cudaRegisterFatBinary(void*) {
  static void* handle[16];
  return handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) {
  return 1;
}
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*) {}
void __cudaRegisterVar(void**, char*, char*, const char*, int, Size, int, int) {}
unsigned __cudaPushCallConfiguration(unsigned long long, unsigned, unsigned long long, unsigned, Size,
                                     void*) {
  return 0;
}
int __cudaPopCallConfiguration(void*, void*, Size* shared, void* stream) {
  *shared = 0;
  std::memset(stream, 0, sizeof(void*));
  return good;
}
int __cudaGetKernel(const void** kernel, const void* function) {
  return *kernel = function, good;
}
int __cudaLaunchKernel(...) {
  return good;
}

int cudaLaunchKernel(...) {
  return good;
}
int cudaLaunchKernelExC(...) {
  return good;
}
int cudaLaunchCooperativeKernel(...) {
  return good;
}
int cudaLaunchHostFunc(void*, void (*function)(void*), void* argument) {
  return function(argument), good;
}
int cudaStreamAddCallback(void* stream, void (*function)(void*, int, void*), void* argument, unsigned) {
  return function(stream, 0, argument), good;
}
int cudaFuncGetAttributes(FunctionAttributes* attributes, const void*) {
  *attributes = {};
  attributes->max_threads_a_block = 1024;
  attributes->registers = 32;
  attributes->ptx_version = attributes->binary_version = 90;
  return good;
}
int cudaFuncSetAttribute(const void*, int, int) {
  return good;
}
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int, Size) {
  return *blocks = 2, good;
}
int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int, Size, unsigned) {
  return *blocks = 2, good;
}
int cudaProfilerStart() {
  return good;
}
int cudaProfilerStop() {
  return good;
}

}  // extern "C"

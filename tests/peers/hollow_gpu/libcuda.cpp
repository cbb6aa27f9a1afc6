// libcuda.so.1 as far as torch's libcaffe2_nvrtc.so needs it to be loaded.
extern "C" {

int cuDevicePrimaryCtxGetState(int, unsigned* flags, int* active) {
  return *flags = 0, *active = 1, 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  return *context = nullptr, 0;
}
int cuCtxGetCurrent(void** context) {
  static char some_context;
  return *context = &some_context, 0;
}
int cuCtxSetCurrent(void*) {
  return 0;
}
int cuDeviceGet(int* device, int number) {
  return *device = number, 0;
}
int cuDeviceGetAttribute(int* value, int, int) {
  return *value = 0, 0;
}
int cuGetErrorString(int, const char** text) {
  return *text = "an error of the hollow GPU", 0;
}

#define UNSUPPORTED(name) \
  int name(...) {         \
    return 801;           \
  }
UNSUPPORTED(cuFuncGetAttribute)
UNSUPPORTED(cuFuncSetAttribute)
UNSUPPORTED(cuFuncSetCacheConfig)
UNSUPPORTED(cuLaunchCooperativeKernel)
UNSUPPORTED(cuLaunchKernel)
UNSUPPORTED(cuLinkAddData_v2)
UNSUPPORTED(cuLinkComplete)
UNSUPPORTED(cuLinkCreate_v2)
UNSUPPORTED(cuModuleGetFunction)
UNSUPPORTED(cuModuleLoad)
UNSUPPORTED(cuModuleLoadData)
UNSUPPORTED(cuModuleLoadDataEx)
UNSUPPORTED(cuModuleUnload)
UNSUPPORTED(cuOccupancyMaxActiveBlocksPerMultiprocessor)
UNSUPPORTED(cuPointerGetAttribute)
UNSUPPORTED(cuTensorMapEncodeTiled)
#undef UNSUPPORTED

}  // extern "C"

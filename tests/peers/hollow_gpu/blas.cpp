// The functions of cuBLAS and cuBLASLt that products of matrices call, doing nothing.
#include <cstdint>
#include <cstring>

extern "C" {

int cublasCreate_v2(void** handle) {
  return *handle = new char, 0;
}
int cublasDestroy_v2(void* handle) {
  return delete static_cast<char*>(handle), 0;
}
int cublasSetStream_v2(void*, void*) {
  return 0;
}
int cublasSetWorkspace_v2(void*, void*, std::size_t) {
  return 0;
}
int cublasSetMathMode(void*, int) {
  return 0;
}
int cublasGetMathMode(void*, int* mode) {
  return *mode = 0, 0;
}
int cublasSetPointerMode_v2(void*, int) {
  return 0;
}
int cublasGetPointerMode_v2(void*, int* mode) {
  return *mode = 0, 0;
}
int cublasSgemm_v2(...) {
  return 0;
}
int cublasGemmEx(...) {
  return 0;
}
int cublasGemmStridedBatchedEx(...) {
  return 0;
}
int cublasSgemmStridedBatched(...) {
  return 0;
}
int cublasSgemv_v2(...) {
  return 0;
}
int cublasSdot_v2(...) {
  return 0;
}
int cublasDotEx(...) {
  return 0;
}

std::size_t cublasLtGetVersion() {
  return 130000;
}
int cublasLtMatmul(...) {
  return 0;
}
int cublasLtMatmulDescCreate(void** made, int, int) {
  return *made = new char, 0;
}
int cublasLtMatmulDescDestroy(void* made) {
  return delete static_cast<char*>(made), 0;
}
int cublasLtMatmulDescSetAttribute(...) {
  return 0;
}
int cublasLtMatmulPreferenceCreate(void** made) {
  return *made = new char, 0;
}
int cublasLtMatmulPreferenceDestroy(void* made) {
  return delete static_cast<char*>(made), 0;
}
int cublasLtMatmulPreferenceSetAttribute(...) {
  return 0;
}
int cublasLtMatrixLayoutCreate(void** made, int, std::uint64_t, std::uint64_t, std::int64_t) {
  return *made = new char, 0;
}
int cublasLtMatrixLayoutDestroy(void* made) {
  return delete static_cast<char*>(made), 0;
}
int cublasLtMatrixLayoutSetAttribute(...) {
  return 0;
}
// One algorithm; the rest of the result stays as torch made it, zeros: no workspace is needed.
int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*, int, void* results,
                                   int* count) {
  std::memset(results, 0, 64);
  return *count = 1, 0;
}

}  // extern "C"

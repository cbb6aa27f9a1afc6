// See cuda_runtime_api.h beside it.
#pragma once

#include <cuda_runtime_api.h>  // IWYU pragma: export

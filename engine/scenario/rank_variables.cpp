#include "engine/scenario/rank_variables.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shardlab {
namespace {

// ld.so(8), dlopen; glibc's gconv(3); shells and interpreters; NCCL's, CUDA's, OpenMP's, libfabric's and
// UCX's own plug-ins, by their documentation.
constexpr std::string_view k_loading_prefixes[] = {"LD_",        "DYLD_",          "GLIBC_TUNABLES",
                                                   "GCONV_PATH", "PYTHON",         "PERL5",
                                                   "RUBY",       "NVTX_INJECTION", "CUDA_INJECTION"};
constexpr std::string_view k_loading[] = {"BASH_ENV",
                                          "ENV",
                                          "SHELLOPTS",
                                          "IFS",
                                          "PATH",
                                          "HOME",
                                          "LOCPATH",
                                          "NLSPATH",
                                          "NCCL_NET_PLUGIN",
                                          "NCCL_TUNER_PLUGIN",
                                          "NCCL_PROFILER_PLUGIN",
                                          "NCCL_ENV_PLUGIN",
                                          "NCCL_GIN_PLUGIN",
                                          "NCCL_CONF_FILE",
                                          "OMP_TOOL_LIBRARIES",
                                          "FI_PROVIDER_PATH",
                                          "UCX_MODULE_DIR",
                                          "RDMAV_DRIVERS",
                                          "IBV_DRIVERS",
                                          "TORCH_EXTENSIONS_DIR"};

constexpr std::string_view k_prefixes[] = {"NCCL_", "GLOO_", "TORCH_", "PYTORCH_", "CUDA_", "OMP_",   "KMP_",
                                           "GOMP_", "MKL_",  "FI_",    "UCX_",     "MLX5_", "RDMAV_", "IBV_"};

template <std::size_t N>
bool begins_with_any(std::string_view variable, const std::string_view (&prefixes)[N]) {
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [&](std::string_view prefix) { return variable.starts_with(prefix); });
}

}  // namespace

bool loads_code(std::string_view variable) {
  return begins_with_any(variable, k_loading_prefixes) ||
         std::find(std::begin(k_loading), std::end(k_loading), variable) != std::end(k_loading);
}

bool is_of_ranks(std::string_view variable) {
  return begins_with_any(variable, k_prefixes) && !loads_code(variable);
}

Status check_rank_variables(const LaunchSpec& launch) {
  for (const auto& [name, value] : launch.environment) {
    if (is_of_ranks(name)) continue;
    return bad_input("launch.env", fmt::format("no library of the ranks reads '{}'", name),
                     fmt::format("known: {}*; others can be set in the shell", fmt::join(k_prefixes, "*, ")));
  }
  return {};
}

}  // namespace shardlab

// Which variables a scenario may give to its ranks.
#include "engine/scenario/rank_variables.h"

#include <string>

#include "engine/scenario/read_scenario.h"
#include "engine/scenario/unsupported.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

Result<Scenario> with_variable(const std::string& name) {
  return read_scenario(test::source_folder() / "scenarios/first/tiny-llama.yaml",
                       std::vector<std::string>{"launch.env={" + name + ": value}"});
}

TEST_CASE("variables that load code are refused where they stand") {
  for (const char* name :
       {"LD_PRELOAD", "LD_LIBRARY_PATH", "GCONV_PATH", "PYTHONPATH", "BASH_ENV", "PATH", "NCCL_NET_PLUGIN",
        "NCCL_TUNER_PLUGIN", "CUDA_INJECTION64_PATH", "OMP_TOOL_LIBRARIES", "FI_PROVIDER_PATH"}) {
    CAPTURE(name);
    CHECK(loads_code(name));
    CHECK(!is_of_ranks(name));
    const auto read = with_variable(name);
    REQUIRE(!read);
    CHECK(read.error().what.find(std::string(name) + " would make the ranks load or run a file") !=
          std::string::npos);
  }
}

TEST_CASE("a run takes the variables that its libraries read") {
  for (const char* name : {"NCCL_DEBUG", "NCCL_NET", "TORCH_NCCL_ASYNC_ERROR_HANDLING", "PYTORCH_ALLOC_CONF",
                           "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "GLOO_SOCKET_IFNAME", "FI_PROVIDER"}) {
    CAPTURE(name);
    CHECK(check_runs(with_variable(name).value()));
  }
  const auto other = check_runs(with_variable("NCLL_DEBUG").value());
  REQUIRE(!other);
  CHECK(other.error().what == "no library of the ranks reads 'NCLL_DEBUG'");
}

}  // namespace
}  // namespace shardlab

#include <array>

#include <nlohmann/json.hpp>

#include "engine/formats/deepspeed/deepspeed_target.h"
#include "engine/formats/script/python_text.h"
#include "engine/formats/script/script_parts.h"
#include "engine/scenario/offload_spec.h"

namespace shardlab {
namespace {

constexpr std::string_view k_initialize = R"py(

@OWN_OPTIMIZER@DEEPSPEED = @CONFIGURATION@


def shard(model):
    """The engine; its optimizer is the one of make_optimizer()."""
    model = model.to(DEVICE)
    engine, *_ = deepspeed.initialize(model=model, optimizer=make_optimizer(model), config=DEEPSPEED, dist_init_required=False)
    return engine
)py";

// Beside an optimizer that is given, in host memory.
constexpr std::string_view k_own_optimizer =
    "# zero_force_ds_cpu_optimizer is False: PyTorch's own runs in host memory; DeepSpeedCPUAdam has to be "
    "compiled.\n";

}  // namespace

std::string deepspeed_sharding(const ExportSubject& subject) {
  const ToolValue configuration = tool_tree(std::array{ToolTable{deepspeed_keys(), nullptr}}, subject);
  const bool on_host = subject.scenario.offload->optimizer != OffloadTarget::none;
  return filled(k_initialize, {{"CONFIGURATION", python_literal(configuration)},
                               {"OWN_OPTIMIZER", std::string(on_host ? k_own_optimizer : "")}});
}

}  // namespace shardlab

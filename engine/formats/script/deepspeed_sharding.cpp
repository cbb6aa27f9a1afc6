#include <array>

#include <nlohmann/json.hpp>

#include "engine/formats/deepspeed/deepspeed_target.h"
#include "engine/formats/script/python_text.h"
#include "engine/formats/script/script_parts.h"

namespace shardlab {
namespace {

constexpr std::string_view k_initialize = R"py(

DEEPSPEED = @CONFIGURATION@


def shard(model):
    """The engine; its optimizer is the one of make_optimizer()."""
    model = model.to(DEVICE)
    engine, *_ = deepspeed.initialize(model=model, optimizer=make_optimizer(model), config=DEEPSPEED, dist_init_required=False)
    return engine
)py";

}  // namespace

std::string deepspeed_sharding(const ExportSubject& subject) {
  const ToolValue configuration = tool_tree(std::array{ToolTable{deepspeed_keys(), nullptr}}, subject);
  return filled(k_initialize, {{"CONFIGURATION", python_literal(configuration)}});
}

}  // namespace shardlab

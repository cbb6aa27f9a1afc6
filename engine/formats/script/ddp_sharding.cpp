#include <fmt/format.h>

#include "engine/formats/script/python_text.h"
#include "engine/formats/script/script_parts.h"
#include "engine/scenario/parallel_spec.h"

namespace shardlab {
namespace {

constexpr std::string_view k_ddp = R"py(

def shard(model):
    """Every rank has everything; gradients are averaged, bucket by bucket."""
    return DistributedDataParallel(model.to(DEVICE)@ARGUMENTS@)
)py";

std::string arguments_of(const DdpSpec& ddp) {
  std::string text;
  if (ddp.bucket_size != DdpSpec{}.bucket_size)
    text += fmt::format(", bucket_cap_mb={}", static_cast<double>(ddp.bucket_size.value) / 1048576);
  if (ddp.gradient_as_bucket_view) text += ", gradient_as_bucket_view=True";
  if (ddp.static_graph) text += ", static_graph=True";
  if (ddp.find_unused_parameters) text += ", find_unused_parameters=True";
  return text;
}

}  // namespace

std::string ddp_sharding(const ExportSubject& subject) {
  return filled(k_ddp, {{"ARGUMENTS", arguments_of(subject.scenario.parallel->ddp)}});
}

}  // namespace shardlab

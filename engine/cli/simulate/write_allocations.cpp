#include "engine/cli/simulate/write_allocations.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/output_file.h"

namespace shardlab {
namespace {

nlohmann::json operation_of(const MadeCall& call) {
  const std::string block = fmt::format("b{}", call.block);
  switch (call.kind) {
    case MadeCall::Kind::malloc: return {"m", block, call.bytes.value, call.stream.value};
    case MadeCall::Kind::free: return {"f", block};
    case MadeCall::Kind::record_stream: return {"r", block, call.stream.value};
    case MadeCall::Kind::complete_events: return {"e", call.stream.value, call.events};
    case MadeCall::Kind::empty_cache: return nlohmann::json::array({"x"});
  }
  return {};
}

}  // namespace

Status write_allocations(const std::filesystem::path& file, const std::string& options,
                         const std::vector<MadeCall>& calls) {
  nlohmann::json operations = nlohmann::json::array();
  for (const MadeCall& call : calls) operations.push_back(operation_of(call));
  const nlohmann::json document = {{"options", options}, {"ops", std::move(operations)}};
  return write_output_file(file, document.dump() + '\n');
}

}  // namespace shardlab

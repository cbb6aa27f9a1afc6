#include "engine/base/version.h"

namespace shardlab {

std::string_view program_version() {
  return SHARDLAB_VERSION;
}

}  // namespace shardlab

#include "engine/scenario/problems.h"

namespace shardlab {

Status Problems::status() const {
  if (errors_.empty()) return {};
  if (errors_.size() == 1) return fail(errors_.front());
  Error all;
  all.kind = errors_.front().kind;
  all.parts = errors_;
  return fail(std::move(all));
}

}  // namespace shardlab

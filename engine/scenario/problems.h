// Complaints collected while a scenario is read or validated, so that a user sees several mistakes at once.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"

namespace shardlab {

class Problems {
 public:
  void add(Place place, std::string what, std::string hint = {}, ErrorCode code = ErrorCode::none) {
    add(Error{ErrorKind::bad_input, std::move(place), std::move(what), std::move(hint), code});
  }
  void add(Error error) { errors_.push_back(std::move(error)); }

  bool empty() const { return errors_.empty(); }

  // The only error as it is; several as the parts of one.
  Status status() const;

 private:
  std::vector<Error> errors_;
};

}  // namespace shardlab

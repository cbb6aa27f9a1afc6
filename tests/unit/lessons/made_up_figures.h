// A source of figures without predictions: x and y are numbers, small and large are bytes, a is a scenario.
#pragma once

#include "engine/lessons/expression.h"

namespace shardlab::lessons::test {

class MadeUpFigures final : public FigureSource {
 public:
  Result<Value> named(const std::string& name) const override {
    if (name == "x") return number_value(3);
    if (name == "y") return number_value(4);
    if (name == "small") return bytes_value(Bytes{1 << 20});
    if (name == "large") return bytes_value(Bytes{3 << 20});
    if (name == "a") return Value{ValueKind::scenario, 0, "a"};
    return bad_input({}, "unknown name '" + name + "'");
  }
  Result<Value> called(const std::string& function, const std::vector<Value>& arguments) const override {
    if (function == "step_time" && arguments.size() == 1) return time_value(Nanoseconds{1'500'000});
    return bad_input({}, "unknown function '" + function + "'");
  }
};

}  // namespace shardlab::lessons::test

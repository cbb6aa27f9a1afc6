// The one way tests include Catch2: version 2 (Debian 12) and version 3 (Ubuntu 24.04) under the same names.
#pragma once

#include <string>

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_tostring.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>
using Catch::Approx;
namespace shardlab::test {
inline auto contains_text(const std::string& part) {
  return Catch::Matchers::ContainsSubstring(part);
}
}  // namespace shardlab::test
#else
#include <catch2/catch.hpp>
namespace shardlab::test {
inline auto contains_text(const std::string& part) {
  return Catch::Matchers::Contains(part);
}
}  // namespace shardlab::test
#endif

// REQUIRE_OK(result): the test ends here, showing the Error, unless the Result holds a value. The includer
// has engine/base/result.h.
#define REQUIRE_OK(...)                                                             \
  do {                                                                              \
    const auto& shardlab_required = (__VA_ARGS__);                                  \
    if (!shardlab_required) FAIL(::shardlab::to_string(shardlab_required.error())); \
    SUCCEED();                                                                      \
  } while (false)

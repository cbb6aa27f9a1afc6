#include "engine/base/limits/no_memory.h"

#include <stdexcept>

#include "tests/catch.h"

namespace shardlab {
namespace {

MemoryNeed of(const std::string& work) {
  return {work, "take fewer"};
}

// What leaves work that throws T, under two needs.
template <typename T>
void under_two_needs(T thrown) {
  with_memory_for([] { return of("the whole"); },
                  [&] { with_memory_for([] { return of("a part"); }, [&] { throw T(thrown); }); });
}

TEST_CASE("work that gets no memory says what it was about, the inner work first") {
  CHECK(with_memory_for([] { return of("nothing"); }, [] { return 7; }) == 7);
  try {
    under_two_needs(std::bad_alloc());
    FAIL("nothing was thrown");
  } catch (const NoMemory& missing) {
    CHECK(std::string(missing.what()) == "no more memory for a part");
    CHECK(std::string(missing.hint()) == "take fewer");
  }
}

TEST_CASE("what goes wrong otherwise is passed on as it is") {
  CHECK_THROWS_AS(under_two_needs(std::runtime_error("broken")), std::runtime_error);
}

TEST_CASE("a need that finds no memory for its own words is an ordinary lack of memory") {
  const auto speechless = []() -> MemoryNeed { throw std::bad_alloc(); };
  try {
    with_memory_for(speechless, [] { throw std::bad_alloc(); });
    FAIL("nothing was thrown");
  } catch (const NoMemory&) {
    FAIL("there were words");
  } catch (const std::bad_alloc&) {
    SUCCEED();
  }
}

TEST_CASE("long words are cut, not lost") {
  const NoMemory missing(of(std::string(1'000, 'x')));
  CHECK(std::string(missing.what()).size() < 256);
  CHECK(std::string(missing.what()).starts_with("no more memory for xxxx"));
}

}  // namespace
}  // namespace shardlab

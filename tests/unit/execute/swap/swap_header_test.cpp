// A header says whose bytes follow, and what differs is said in words.
#include "engine/execute/swap/swap_header.h"

#include "tests/catch.h"

namespace shardlab {
namespace {

SwapHeader example() {
  return {"run-1", 3, "layer.0_exp-avg", 17, {1052672}, 0x0123456789abcdefULL};
}

TEST_CASE("a header is read as it was written") {
  const auto decoded = decode_swap_header(encode_swap_header(example()));
  REQUIRE(decoded.header);
  CHECK(*decoded.header == example());
  CHECK_FALSE(swap_header_difference(*decoded.header, example()));
}

TEST_CASE("a header that any bit of was changed is refused") {
  const SwapPage page = encode_swap_header(example());
  for (std::size_t i = 0; i < page.size(); ++i) {
    SwapPage changed = page;
    changed[i] ^= std::byte{1};
    const auto decoded = decode_swap_header(changed);
    INFO(i);
    REQUIRE_FALSE(decoded.header);
    REQUIRE_FALSE(decoded.problem.empty());
  }
}

TEST_CASE("what is no header is told apart") {
  CHECK(decode_swap_header(SwapPage{}).problem == "has no header: it was never written, or not to its end");
  SwapPage other{};
  other.fill(std::byte{'x'});
  CHECK(decode_swap_header(other).problem == "has a header that is not shardlab's: another program wrote it");
}

TEST_CASE("what differs between two headers is said") {
  const auto difference = [](auto&& change) {
    SwapHeader found = example();
    change(found);
    return swap_header_difference(found, example()).value_or("");
  };
  CHECK(difference([](SwapHeader& h) { h.run = "X"; }) == "was written by another run (X)");
  CHECK(difference([](SwapHeader& h) { h.rank = 4; }) == "was written by rank 4, not by rank 3");
  CHECK(difference([](SwapHeader& h) { h.name = "b"; }) == "was written as another file (b)");
  CHECK(difference([](SwapHeader& h) { h.bytes = {5}; }) ==
        "has 5 bytes of data, and 1052672 were asked for");
  CHECK(difference([](SwapHeader& h) { h.step = 16; }) ==
        "holds the data of step 16, and those of step 17 were written last");
  CHECK(difference([](SwapHeader& h) { h.checksum = 1; }).empty());
}

TEST_CASE("names of runs and files are harmless in a path") {
  for (const char* run : {"a", "Run_1-b"}) CHECK(is_swap_run(run));
  for (const char* run : {"", "a.b", "a/b", "..", "a b", "\n"}) CHECK_FALSE(is_swap_run(run));
  CHECK(is_swap_run(std::string(128, 'a')));
  CHECK_FALSE(is_swap_run(std::string(129, 'a')));
  for (const char* name : {"a", "a.b-c_D.0", "-"}) CHECK(is_swap_name(name));
  for (const char* name : {"", ".", "..", ".lock", "a/b", "a b", "\xc3\xa4"}) CHECK_FALSE(is_swap_name(name));
  CHECK_FALSE(is_swap_name(std::string(201, 'a')));
  CHECK_FALSE(is_swap_name(std::string("a\0b", 3)));
}

TEST_CASE("the longest names fit into a header") {
  SwapHeader header = example();
  header.run = std::string(128, 'r');
  header.name = std::string(200, 'n');
  const auto decoded = decode_swap_header(encode_swap_header(header));
  REQUIRE(decoded.header);
  CHECK(*decoded.header == header);
}

}  // namespace
}  // namespace shardlab

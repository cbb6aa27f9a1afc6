#include "engine/base/pickle/pickle_reader.h"

#include <fstream>
#include <iterator>

#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

using namespace std::string_literals;

std::string file(const std::string& name) {
  std::ifstream stream(test::data_file("allocator/" + name), std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::string refusal(const std::string& pickle) {
  const auto read = read_pickle(pickle);
  REQUIRE(!read);
  CHECK(read.error().kind == ErrorKind::bad_input);
  return read.error().what;
}

}  // namespace

TEST_CASE("pickles of protocols 0, 2 and 4 are read as data") {
  // pickle.dumps({"a": [1, -2, 300, 70000, 2**40, True, None], "b": ("x", 0.5)}, protocol)
  const std::string zero =
      "(dp0\nVa\np1\n(lp2\nI1\naI-2\naI300\naI70000\naI1099511627776\naI01\naNas"
      "Vb\np3\n(Vx\np4\nF0.5\ntp5\ns."s;
  const std::string two =
      "\x80\x02}q\x00(X\x01\x00\x00\x00"
      "aq\x01]q\x02(K\x01J\xfe\xff\xff\xffM,"
      "\x01Jp\x11\x01\x00\x8a\x06\x00\x00\x00\x00\x00\x01\x88NeX\x01\x00\x00\x00"
      "bq\x03X\x01\x00\x00\x00xq\x04G?\xe0\x00\x00\x00\x00\x00\x00\x86q\x05u."s;
  const std::string four =
      "\x80\x04\x95"
      "7\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01"
      "a\x94]\x94(K\x01J\xfe\xff\xff\xffM,\x01Jp\x11\x01\x00\x8a\x06\x00\x00\x00\x00\x00\x01\x88Ne\x8c\x01"
      "b\x94\x8c\x01x\x94G?\xe0\x00\x00\x00\x00\x00\x00\x86\x94u."s;
  for (const std::string& pickle : {zero, two, four}) {
    const auto read = read_pickle(pickle);
    REQUIRE_OK(read);
    const auto a = read->find(read->root(), "a"), b = read->find(read->root(), "b");
    REQUIRE((a && b));
    std::vector<std::int64_t> numbers;
    for (const PickleValue item : read->items(*a)) numbers.push_back(read->integer(item).value_or(-1000));
    CHECK(numbers == std::vector<std::int64_t>{1, -2, 300, 70000, std::int64_t{1} << 40, 1, -1000});
    REQUIRE(read->items(*b).size() == 2);
    CHECK(read->text(read->items(*b)[0]) == "x");
    CHECK(read->kind(read->items(*b)[1]) == PickleKind::number);
    CHECK_FALSE(read->find(read->root(), "c"));
  }
}

TEST_CASE("what would run code is refused by name, before anything after it is read") {
  // os.system("touch ran") as a class with __reduce__ writes it.
  const std::string system =
      "\x80\x04\x8c\x05posix\x94\x8c\x06system\x94\x93\x94\x8c\ttouch ran\x94\x85\x94R\x94."s;
  CHECK(refusal(system) == "the pickle asks for STACK_GLOBAL at byte 19: it would run code");
  CHECK(refusal("cos\nsystem\n(S'touch ran'\ntR.") ==
        "the pickle asks for GLOBAL at byte 0: it would run code");
  CHECK(refusal("(S'touch ran'\nios\nsystem\n.") == "the pickle asks for INST at byte 14: it would run code");
  for (const char* code : {"R", "o", "b", "P", "Q", "\x81", "\x92", "\x82", "\x83", "\x84", "\x97", "\x98"})
    CHECK_THAT(refusal("}"s + code + "."), test::contains_text("it would run code"));
}

TEST_CASE("lengths that no file has, and numbers that nothing has, are damage") {
  for (const std::string& pickle : {"X\xff\xff\xff\xff."s,
                                    "\x8d\xff\xff\xff\xff\xff\xff\xff\xff."s,
                                    "T\xff\xff\xff\x7f."s,
                                    "\x8b\xff\xff\xff\x7f."s,
                                    "\x8a\x20"s + std::string(32, '\x7f') + "."s,
                                    "I12x\n."s,
                                    "h\x05."s,
                                    "g7\n."s,
                                    "}u."s,
                                    "e."s,
                                    "a."s,
                                    "s."s,
                                    "]K\x01u."s,
                                    "(K\x01"s
                                    "d."s,
                                    "\x85."s,
                                    "0."s,
                                    "2."s,
                                    "t."s,
                                    "\x94."s,
                                    "q\x01."s,
                                    "Z"s}) {
    INFO(pickle);
    CHECK_THAT(refusal(pickle), test::contains_text("damaged at byte"));
  }
  CHECK(refusal(".") == "the pickle ends with more than one object, or none");
  CHECK(refusal("NN.") == "the pickle ends with more than one object, or none");
  CHECK(refusal("") == "the pickle ends after 0 bytes, before its STOP");
}

TEST_CASE("nesting costs nothing, and a list may contain itself") {
  constexpr int k_deep = 1'000'000;
  REQUIRE_OK(read_pickle(std::string(k_deep, '(') + std::string(k_deep, 't') + "."));
  REQUIRE_OK(read_pickle(std::string(k_deep, ']') + std::string(k_deep - 1, 'a') + "."));
  const auto self = read_pickle(
      "]q\x01h\x01"s
      "a."s);
  REQUIRE_OK(self);
  REQUIRE(self->items(self->root()).size() == 1);
  CHECK(self->items(self->root())[0] == self->root());
}

TEST_CASE("more objects than data have in so many bytes are refused before they fill the memory") {
  for (const char* const pattern : {"]", "N", "(", "N\x94", "]0"}) {
    std::string pickle;
    while (pickle.size() < 20'000'000) pickle += pattern;
    CHECK_THAT(refusal(pickle), test::contains_text("holds too many objects"));
  }
  std::string texts = "(";
  for (int i = 0; i < 3'000'000; ++i)
    texts +=
        "\x8c\x03"
        "abc";
  REQUIRE_OK(read_pickle(texts + "l."));
  CHECK_THAT(read_pickle(texts + "l.", 1000).error().what, test::contains_text("holds too many objects"));
}

TEST_CASE("a pickle that is cut anywhere is an error, and so is one with a wrong byte, or none") {
  const std::string whole = file("history_default.pickle");
  REQUIRE_OK(read_pickle(whole));
  for (std::size_t length = 0; length < whole.size(); length += length < 2000 ? 1 : 37)
    CHECK_FALSE(read_pickle(whole.substr(0, length)));
  for (std::size_t at = 0; at < whole.size(); at += at < 500 ? 1 : 101)
    for (const char byte : {'\0', '\xff', '(', 'R', '.'}) {
      std::string wrong = whole;
      wrong[at] = byte;
      (void)read_pickle(std::move(wrong));  // must end
    }
}

}  // namespace shardlab

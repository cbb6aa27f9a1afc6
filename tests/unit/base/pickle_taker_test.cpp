#include "engine/base/pickle/pickle_taker.h"

#include <fstream>

#include "engine/base/pickle/pickle_reader.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

using namespace std::string_literals;

// Takes dictionaries that have an "x", by its value, and lists that begin with a number, by that.
class TakesX final : public PickleTaker {
 public:
  std::optional<std::int64_t> take(const PickleTree& tree, PickleValue container) override {
    ++asked;
    if (tree.kind(container) == PickleKind::list)
      return tree.items(container).empty() ? std::nullopt : tree.integer(tree.items(container)[0]);
    const auto x = tree.find(container, "x");
    return x ? tree.integer(*x) : std::nullopt;
  }

  int asked = 0;
};

std::vector<std::int64_t> taken_of_root(const std::string& pickle, TakesX& taker) {
  const auto tree = read_pickle(pickle, 1'000'000, &taker);
  REQUIRE_OK(tree);
  std::vector<std::int64_t> numbers;
  for (const PickleValue item : tree->items(tree->root())) {
    CHECK((!tree->taken(item) || tree->items(item).empty()));
    numbers.push_back(tree->taken(item).value_or(-1));
  }
  return numbers;
}

const std::string k_x = "\x8c\x01x"s, k_y = "\x8c\x01y"s;

std::string filled_at_once(int x) {
  return "}\x94("s + k_x + "K" + static_cast<char>(x) + k_y + "]\x94(K\x09K\x08"s + "e" + "u";
}

}  // namespace

TEST_CASE("what a taker takes is a number in the tree, however it was filled") {
  TakesX taker;
  CHECK(taken_of_root("](" + filled_at_once(5) + filled_at_once(6) + "e.", taker) ==
        std::vector<std::int64_t>{5, 6});
  CHECK(taker.asked == 5);  // the root has no container that it is put into, and was filled at once
  // Key by key, as protocol 0 has it, and by the marks of dict().
  CHECK(taken_of_root("(l(dVy\nI2\nsVx\nI7\nsa(Vx\nI8\nda.", taker) == std::vector<std::int64_t>{7, 8});
}

TEST_CASE("what was taken may be recalled, and not changed") {
  TakesX taker;
  CHECK(taken_of_root("](}q\x01("s + k_x + "K\x05uh\x01}q\x01("s + k_x + "K\x06uh\x01" + "e.", taker) ==
        std::vector<std::int64_t>{5, 5, 6, 6});
  const std::string changed = "](}q\x01("s + k_x + "K\x05uh\x01("s + k_y + "K\x06ue.";
  CHECK_THAT(read_pickle(changed, 1000, &taker).error().what, test::contains_text("damaged at byte"));
}

TEST_CASE("what is recalled before it is whole stays in the tree") {
  TakesX taker;
  const std::string itself = "]}q\x01("s + k_y + "h\x01" + k_x + "K\x05ua.";
  CHECK(taken_of_root(itself, taker) == std::vector<std::int64_t>{-1});
  const std::string twice_noted = "]}q\x01q\x02("s + k_x + "K\x05ua.";
  CHECK(taken_of_root(twice_noted, taker) == std::vector<std::int64_t>{-1});
  const std::string copied = "](}2("s + k_x + "K\x05ue.";
  CHECK(taken_of_root(copied, taker) == std::vector<std::int64_t>{-1, -1});
  // More follows what Python's pickler writes at once.
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "K\x05";
  CHECK(taken_of_root("]]q\x01("s + many + "e(K\x05K\x05" + "ea.", taker) == std::vector<std::int64_t>{5});
}

TEST_CASE("a file is read in pieces, wherever they end") {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "long.pickle";
  std::string pickle = "(";
  for (int i = 0; i < 300'000; ++i) pickle += filled_at_once(i % 100);
  pickle += "X\x00\x00\x30\x00"s + std::string(3 << 20, 'a') + "V" + std::string(2 << 20, 'b') + "\nl.";
  std::ofstream(file, std::ios::binary) << pickle;
  auto source = PickleSource::open(file, {"pickle", 1 << 30});
  REQUIRE_OK(source);
  TakesX taker;
  const auto tree = read_pickle(*std::move(source), 10'000'000, &taker);
  REQUIRE_OK(tree);
  const auto items = tree->items(tree->root());
  REQUIRE(items.size() == 300'002);
  for (std::size_t i = 0; i < 300'000; ++i)
    if (tree->taken(items[i]) != static_cast<std::int64_t>(i % 100)) FAIL("item " << i);
  CHECK(tree->text(items[300'000]) == std::string(3 << 20, 'a'));
  CHECK(tree->text(items[300'001]) == std::string(2 << 20, 'b'));

  // A file that is too large is read no further than its first piece.
  auto small = PickleSource::open(file, {"pickle", 2 << 20});
  REQUIRE_OK(small);
  const auto refused = read_pickle(*std::move(small));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().what == "is larger than 2.00 MiB, not a pickle");
  CHECK(refused.error().place.file == file.string());
}

TEST_CASE("whole numbers of any size are as they were written") {
  const auto tree =
      read_pickle("(L9223372036854775807\nL-9223372036854775808\nI288230376151711743\nI-1\nl."s);
  REQUIRE_OK(tree);
  std::vector<std::int64_t> numbers;
  for (const PickleValue item : tree->items(tree->root())) numbers.push_back(tree->integer(item).value_or(0));
  CHECK(numbers == std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max(),
                                             std::numeric_limits<std::int64_t>::min(), 288230376151711743,
                                             -1});
}

}  // namespace shardlab

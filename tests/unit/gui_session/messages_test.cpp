#include "gui/session/messages.h"

#include "tests/catch.h"

namespace shardlab::gui {

TEST_CASE("a topic has one message, which goes when the trouble is over") {
  Messages messages;
  messages.add({MessageKind::error, "locked", "wait", "database", 1});
  messages.add({MessageKind::error, "gone", {}, "database", 2});
  REQUIRE(messages.all().size() == 1);
  CHECK(messages.all().front().text == "gone");
  messages.add({MessageKind::error, "gone", {}, "runs", 3});  // the same trouble of another reader
  CHECK(messages.all().size() == 1);
  messages.clear("database");
  CHECK(messages.all().empty());
}

TEST_CASE("news without a topic adds up, within bounds, and is dismissed one by one") {
  Messages messages;
  for (std::size_t i = 0; i < Messages::k_most + 5; ++i) messages.news(std::to_string(i), 0);
  REQUIRE(messages.all().size() == Messages::k_most);
  CHECK(messages.all().front().text == "5");
  messages.dismiss(0);
  CHECK(messages.all().front().text == "6");
  messages.dismiss(1000);  // not there
  CHECK(messages.all().size() == Messages::k_most - 1);
}

}  // namespace shardlab::gui

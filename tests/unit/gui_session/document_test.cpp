#include "gui/session/document.h"

#include "tests/catch.h"

namespace shardlab::gui {

TEST_CASE("undo goes back edit by edit to the saved text, redo forward again") {
  Document document("a", "file.yaml");
  CHECK_FALSE(document.changed());
  CHECK(document.edit("b", {"x", 0}));
  CHECK(document.edit("c", {"y", 0.1}));
  CHECK(document.changed());
  CHECK(document.undo_what() == "y");
  REQUIRE(document.undo());
  CHECK(document.text() == "b");
  REQUIRE(document.undo());
  CHECK(document.text() == "a");
  CHECK_FALSE(document.changed());
  CHECK_FALSE(document.undo());
  REQUIRE(document.redo());
  REQUIRE(document.redo());
  CHECK(document.text() == "c");
  CHECK_FALSE(document.redo());
}

TEST_CASE("edits of one thing in quick succession are undone as one") {
  Document document("", {});
  document.edit("h", {"text", 0});
  document.edit("he", {"text", 0.2});
  document.edit("hel", {"text", 0.9});
  document.edit("help", {"text", 5});
  document.undo();
  CHECK(document.text() == "hel");
  document.undo();
  CHECK(document.text().empty());
}

TEST_CASE("an edit after an undo ends what could be redone, and every change has a new revision") {
  Document document("a", {});
  const auto first = document.revision();
  document.edit("b", {"x", 0});
  document.undo();
  document.edit("c", {"x", 0});
  CHECK_FALSE(document.can_redo());
  CHECK(document.revision() == first + 3);
  CHECK_FALSE(document.edit("c", {"x", 9}));
  CHECK(document.revision() == first + 3);
}

TEST_CASE("a document that becomes another goes back to the one that it was, with its file") {
  Document document("a", "a.yaml");
  document.edit("edited", {"text", 0});
  document.become("b", {"import", 0});
  CHECK(document.text() == "b");
  CHECK(document.file().empty());
  CHECK(document.changed());  // never saved
  document.saved_as("b.yaml");
  CHECK_FALSE(document.changed());
  document.edit("b2", {"text", 0});
  CHECK(document.file() == "b.yaml");
  CHECK(document.undo());
  CHECK_FALSE(document.changed());
  CHECK(document.undo());
  CHECK(document.text() == "edited");
  CHECK(document.file() == "a.yaml");
  CHECK(document.changed());
  CHECK(document.saved_text() == "a");
  CHECK(document.redo());
  CHECK(document.file() == "b.yaml");
  CHECK(document.saved_text() == "b");
}

TEST_CASE("the history is bounded") {
  Document document("", {});
  for (std::size_t i = 0; i < Document::k_most_undos + 50; ++i)
    document.edit(std::to_string(i), {"x" + std::to_string(i), 0});
  std::size_t undone = 0;
  while (document.undo()) ++undone;
  CHECK(undone == Document::k_most_undos - 1);
}

}  // namespace shardlab::gui

// The words of the field as a file: what each means, and the smallest plan that shows it.
//
// docs/glossary.md is written from it (`shardlab explain --document`).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/lessons/lesson.h"

namespace shardlab::lessons {

struct GlossaryWord {
  std::vector<std::string> names{};  // the first is how it is listed: rank; gather, all-gather
  std::vector<std::string> also{};   // what else finds it: HSDP
  // Those of both that everyday language uses as well: in a text they are terms where they are marked.
  std::vector<std::string> ordinary{};
  std::string meaning{};
  LookStep look{};
  Place place{};
};

struct GlossarySection {
  std::string title;
  std::string column;  // the head of the meanings: Meaning, Definition
  std::vector<GlossaryWord> words;
};

struct Glossary {
  Lesson frame;  // its scenarios; no steps
  std::string about;
  std::vector<GlossarySection> sections;

  // Upper and lower case are alike, and hyphens and blanks do not matter. bad_input for an unknown word, with
  // the nearest, or those that have a word in common with it.
  Result<const GlossaryWord*> find(std::string_view word) const;
};

// Errors: bad_input, all mistakes together, with their places.
Result<Glossary> read_glossary(const std::filesystem::path& file);

// The one that ships with the program; not_possible where it is not installed.
Result<Glossary> shipped_glossary();

// The text of docs/glossary.md.
std::string glossary_page(const Glossary& glossary);

}  // namespace shardlab::lessons

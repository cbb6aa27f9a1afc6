// Sound files of every kind that the command line reads, and how it is told to read one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace shardlab::test {

struct Kind {
  std::string name;
  std::string ending;                  // of the file's name: "damaged.yaml"
  std::vector<std::string> arguments;  // of the command line; FILE stands for the file
  std::vector<std::string> texts;
};

// `folder`: where the damaged files will lie, with a sound.db that has runs in it; gets the files that some
// of them name.
std::vector<Kind> specimens(const std::filesystem::path& source, const std::filesystem::path& folder);

}  // namespace shardlab::test

#include "engine/execute/nccl/nccl_library.h"

#include <dlfcn.h>

#include "tests/nccl_stand_in/stand_in_library.h"

namespace shardlab {

TEST_CASE("a library is loaded once, whoever asks") {
  const auto nccl = load_nccl(test::stand_in_path());
  REQUIRE_OK(nccl);
  CHECK((*nccl)->version == 22809);
  CHECK((*nccl)->all_gather != nullptr);
  CHECK(*load_nccl(test::stand_in_path()) == *nccl);
}

TEST_CASE("a library that is not NCCL is refused by what it lacks") {
  const auto missing = load_nccl("/nowhere/libnccl.so.2");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().kind == ErrorKind::not_possible);
  CHECK_THAT(missing.error().hint, test::contains_text("SHARDLAB_NCCL_LIBRARY"));
  const auto other = load_nccl("libm.so.6");
  REQUIRE_FALSE(other);
  CHECK_THAT(other.error().what, test::contains_text("ncclGetVersion"));
}

// Sanitizers do not let a library look at its own symbols first.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("beside another NCCL a library calls its own functions") {
  const std::filesystem::path path = test::stand_in_path();
  REQUIRE(::dlopen((path.parent_path() / "libother_nccl.so").c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr);
  // A file of its own: one that is loaded already has found its functions.
  const test::TemporaryFolder folder;
  std::filesystem::copy_file(path, folder.path() / "libnccl.so.2");
  const auto nccl = load_nccl((folder.path() / "libnccl.so.2").string());
  REQUIRE_OK(nccl);
  void* library = ::dlopen((folder.path() / "libnccl.so.2").c_str(), RTLD_NOW | RTLD_NOLOAD);
  const auto version = reinterpret_cast<int (*)()>(::dlsym(library, "standInVersion"));
  REQUIRE(version != nullptr);
  CHECK(version() == 22809);
}
#endif

TEST_CASE("versions are written as people write them") {
  CHECK(nccl_version_text(22809) == "2.28.9");
  CHECK(nccl_version_text(23007) == "2.30.7");
}

}  // namespace shardlab

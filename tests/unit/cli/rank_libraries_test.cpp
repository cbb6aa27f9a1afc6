#include "engine/cli/rank_libraries.h"

#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/catch.h"
#include "tests/environment_variable.h"
#include "tests/paths.h"

namespace fs = std::filesystem;
using shardlab::test::contains_text;
using shardlab::test::EnvironmentVariable;

namespace {

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

void make_torch(const fs::path& folder, const std::string& version) {
  write(folder / "lib/libtorch_cpu.so", "");
  write(folder / "version.py", "__all__ = ['__version__']\n__version__ = '" + version + "'\n");
}

}  // namespace

TEST_CASE("what the loader did not find is read from its answer") {
  CHECK(shardlab::not_found_in("\tlinux-vdso.so.1 (0x00007ffc)\n\tlibtorch_cpu.so => not found\n"
                               "\tlibm.so.6 => /lib/libm.so.6 (0x00007f)\n\tlibc10.so => not found\n") ==
        std::vector<std::string>{"libtorch_cpu.so", "libc10.so"});
  CHECK(shardlab::not_found_in("").empty());
}

TEST_CASE("this test finds its own libraries") {
  const auto missing = shardlab::missing_libraries(fs::read_symlink("/proc/self/exe"));
  REQUIRE_OK(missing);
  CHECK(missing->empty());
}

TEST_CASE("SHARDLAB_TORCH_DIR puts its libtorch before what the ranks would load") {
  const shardlab::test::TemporaryFolder folder;
  const fs::path torch = folder.path() / "torch";
  make_torch(torch, std::string(shardlab::torch_version()) + "+cu130");
  const EnvironmentVariable given("SHARDLAB_TORCH_DIR", torch.string());
  const EnvironmentVariable before("LD_LIBRARY_PATH", "/somewhere");
  REQUIRE_OK(shardlab::take_libtorch_of_environment());
  CHECK(std::getenv("LD_LIBRARY_PATH") == (torch / "lib").string() + ":/somewhere");
}

TEST_CASE("the program for GPUs loads CUDA's runtime from beside torch") {
  const shardlab::test::TemporaryFolder folder;
  const fs::path cuda = folder.path() / "nvidia/cu13/lib";
  fs::create_directories(cuda);
  CHECK(shardlab::library_path_of(folder.path() / "torch") ==
        (folder.path() / "torch/lib").string() + ":" + cuda.string());
}

TEST_CASE("a SHARDLAB_TORCH_DIR without libtorch, or with another version, is refused") {
  const shardlab::test::TemporaryFolder folder;
  {
    const EnvironmentVariable given("SHARDLAB_TORCH_DIR", folder.path().string());
    const auto refused = shardlab::take_libtorch_of_environment();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == shardlab::ErrorKind::bad_input);
    CHECK_THAT(refused.error().what, contains_text("libtorch_cpu.so"));
  }
  make_torch(folder.path() / "other", "1.2.3");
  const EnvironmentVariable given("SHARDLAB_TORCH_DIR", (folder.path() / "other").string());
  const auto refused = shardlab::take_libtorch_of_environment();
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().what, contains_text("1.2.3"));
}

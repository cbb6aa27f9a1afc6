// What a frame of a million results of a search costs before anything is drawn: counted into the squares of a
// plot, filtered, and the one under the mouse found. Prints figures beside the target of a frame; judges
// nothing.
#include <fmt/format.h>

#include <chrono>

#include "gui/view_model/search/point_density.h"
#include "gui/view_model/search/search_points.h"

using namespace shardlab::view;

namespace {

constexpr std::size_t k_points = 1'000'000;
constexpr double k_target_ms = 16;

template <typename Work>
void print(const char* what, Work&& work) {
  work();  // vectors have grown
  const auto start = std::chrono::steady_clock::now();
  work();
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  fmt::print("  {:<22} {:7.2f} ms  target {} ms: {}\n", what, ms, k_target_ms,
             ms <= k_target_ms ? "met" : "NOT MET");
}

}  // namespace

int main() {
  SearchPoints points;
  std::uint64_t state = 19;
  const auto draw = [&] {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state >> 11) * 0x1p-53;
  };
  for (std::vector<double>& axis : points.values)
    for (std::size_t i = 0; i < k_points; ++i) axis.push_back(draw());
  points.satisfies.assign(k_points, 1);
  points.on_front.assign(k_points, 0);
  points.knobs.assign(k_points, "parallel fsdp2, train.micro_batch 2");
  const std::vector<std::uint32_t> pass = passing(points, {});
  fmt::print("{} results of a search\n", points.size());
  PointDensity density;
  const auto& x = points.of(SearchAxis::time);
  const auto& y = points.of(SearchAxis::memory);
  print("counted, each frame", [&] {
    count_points(x, y, pass, {AxisRange{0, 1}, AxisRange{0, 1}}, 320, 200, density);
  });
  print("under the mouse", [&] { (void)nearest_point(x, y, pass, {0.5, 0.5}, {0.01, 0.01}); });
  print("filtered, once", [&] { (void)passing(points, {true, "fsdp2 micro_batch"}); });
  return density.most > 0 ? 0 : 1;
}

#include "gui/view_model/memory/fit_view.h"

#include "tests/catch.h"
#include "tests/unit/gui_view_model/loaded_runs.h"
#include "tests/unit/gui_view_model/real_runs.h"

using namespace shardlab;
using namespace shardlab::test;
using namespace shardlab::view;

namespace {

Bytes sum_of(const FitView& view) {
  Bytes sum;
  for (const FitPart& part : view.parts) sum += part.bytes;
  return sum;
}

}  // namespace

TEST_CASE("where the device's memory is known it is judged, not the live tensors") {
  LoadedRun run = loaded_run(1, RunKind::predicted);
  MemorySummary& memory = *run.record.summary.memory;
  memory.peak_reserved = Bytes{900};
  memory.peak_device = Bytes{1100};
  memory.device_low = Bytes{1050};
  memory.device_high = Bytes{1200};
  run.record.summary.fits = Fit::no;
  run.record.summary.fit_probability = 0.07;
  run.record.summary.fit_reason = "the steps take 1,100 B of the device's 1,000 B";
  const FitView view = *make_fit_view(run);
  CHECK(view.peak == Bytes{200});
  CHECK(view.needed == Bytes{1100});
  CHECK(view.on_device);
  CHECK(spare_words(view) == "100 B too much");
  CHECK(likelihood_words(view) == "steps run with 7 %, 1.03 KiB to 1.17 KiB in use (80 % of all cases)");
  CHECK(view.reason == "the steps take 1,100 B of the device's 1,000 B");
  CHECK(sum_of(view) == view.needed);
  CHECK(view.peak_words == "backward of layer 0");
}

TEST_CASE("no chance is told as certain") {
  FitView view = *make_fit_view(loaded_run(1, RunKind::predicted));
  view.probability = 1;
  CHECK(likelihood_words(view) == "steps run with over 99 %");
  view.probability = 0;
  CHECK(likelihood_words(view) == "steps run with under 1 %");
}

TEST_CASE("the live tensors are judged where nothing else is known") {
  const FitView view = *make_fit_view(loaded_run(1, RunKind::measured));
  CHECK(view.needed == Bytes{200});
  CHECK_FALSE(view.on_device);
  CHECK(spare_words(view) == "800 B to spare");
  CHECK(likelihood_words(view).empty());
  CHECK(sum_of(view) == view.needed);
}

TEST_CASE("what does not fit although its steps have room is not said to have room to spare") {
  LoadedRun run = loaded_run(1, RunKind::predicted);
  run.record.summary.fits = Fit::no;
  CHECK(spare_words(*make_fit_view(run)) == "800 B to spare, and yet it does not fit");
  run.record.summary.fit_reason = "load takes 2,000 B of the device's 1,000 B";
  CHECK(spare_words(*make_fit_view(run)) == "800 B to spare, and yet:");
}

TEST_CASE("a prediction whose allocator reserves more than there is has nothing to spare") {
  const RealRuns runs = real_runs("scenarios/memory/reserved-exceeds.yaml");
  const FitView view = *make_fit_view(*runs.predicted);
  REQUIRE(view.capacity);
  CHECK(view.peak < *view.capacity);  // the live tensors alone would fit
  CHECK(view.fits != Fit::yes);
  CHECK_FALSE(view.reason.empty());
  CHECK(sum_of(view) == view.needed);
}

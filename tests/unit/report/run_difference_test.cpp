#include "engine/report/run_difference.h"

#include "tests/catch.h"

namespace shardlab {

TEST_CASE("a difference is a percentage, a factor, or new and gone") {
  const auto words = [](std::optional<double> first, std::optional<double> second) {
    return difference_words({"x", MetricUnit::bytes, first, second});
  };
  CHECK(words(100, 112) == "+12.0 %");
  CHECK(words(100, 40) == "-60.0 %");
  CHECK(words(1, 78672) == "7.87e+04 x");
  CHECK(words(100, 340) == "3.4 x");
  CHECK(words(340, 100) == "1/3.4");
  CHECK(words(0, 5) == "new");
  CHECK(words(5, 0) == "gone");
  CHECK(words(5, 5) == "same");
  CHECK(words(5, {}) == "-");
}

TEST_CASE("alternatives are shown without a verdict and without colours") {
  RunDifference difference;
  difference.totals = {{"step time", MetricUnit::nanoseconds, 1e6, 2e6}};
  difference.memory = {{"gradient", MetricUnit::bytes, 0, 1024}};
  CHECK(difference_table(difference, "r1", "r2", {.colour = false}) ==
        "                r1       r2  difference\n"
        "step time  1.00 ms  2.00 ms    +100.0 %\n"
        "\n"
        "memory at the peak   r1        r2  difference\n"
        "gradient            0 B  1.00 KiB         new\n");
  CHECK_THAT(difference_table(difference, "r1", "r2", {.colour = true}), !test::contains_text("\x1b[31m"));
}

TEST_CASE("a run without a kind of collective has no bytes of it to show") {
  RunDifference difference;
  difference.totals = {{"communication AllReduce", MetricUnit::bytes, 0, 1024, "communication.AllReduce"},
                       {"exposed communication", MetricUnit::nanoseconds, 0, 2000, "exposed_communication"}};
  CHECK(difference_table(difference, "r1", "r2", {.colour = false}) ==
        "                           r1        r2  difference\n"
        "communication AllReduce     -  1.00 KiB         new\n"
        "exposed communication    0 ns   2.00 us         new\n");
}

TEST_CASE("collectives that only one of two runs has are gone or new") {
  RunSummary first, second;
  first.communication = {{InstructionKind::AllGather, 2, 9, Bytes{900}, Bytes{900}, {}}};
  second.communication = {{InstructionKind::AllReduce, 2, 9, Bytes{700}, Bytes{700}, {}}};
  first.implementation = second.implementation = Implementation::eager;
  const StepPlan plan;
  const RunTrace trace;
  const auto words_of = [&](const std::string& metric) {
    const RunDifference difference = difference_of({first, trace, plan}, {second, trace, plan});
    for (const DifferenceRow& row : difference.totals)
      if (row.metric == metric) return difference_words(row);
    return std::string("none");
  };
  CHECK(words_of("communication.AllGather") == "gone");
  CHECK(words_of("communication.AllReduce") == "new");
  second.implementation.reset();  // imported: what its trace does not tell is unknown
  CHECK(words_of("communication.AllGather") == "-");
  CHECK(words_of("communication.AllReduce") == "new");
}

}  // namespace shardlab

#include "engine/base/parse.h"

#include <limits>

#include "tests/catch.h"

namespace shardlab {
namespace {

TEST_CASE("parse: integers") {
  CHECK(parse_integer("4096").value() == 4096);
  CHECK(parse_integer("-1").value() == -1);
  CHECK(parse_integer("+7").value() == 7);
  CHECK(parse_integer("1_000_000").value() == 1'000'000);
  CHECK(parse_integer("8k").value() == 8000);
  CHECK(parse_integer("1T").value() == 1'000'000'000'000);
  CHECK(parse_integer("20B").value() == 20'000'000'000);  // as people count tokens and parameters
  CHECK(parse_integer("2Ti").value() == std::int64_t{2} << 40);
  CHECK(parse_integer("8Ki").value() == 8192);
  CHECK(parse_integer("1.5M").value() == 1'500'000);
  CHECK(parse_integer("5e8").value() == 500'000'000);
  CHECK(parse_integer("9223372036854775807").value() == std::numeric_limits<std::int64_t>::max());
  for (const char* wrong : {"", "x", "1_", "_1", "1__0", "1.5", "9223372036854775808", "1e30", "99999999999G",
                            "0x10", "1 2", "--1", "1k k", ".", "e5", "inf", "nan"}) {
    INFO(wrong);
    CHECK_FALSE(parse_integer(wrong).has_value());
  }
}

TEST_CASE("parse: numbers, fractions and truth") {
  CHECK(parse_number("1e-4").value() == 1e-4);
  CHECK(parse_number(".5").value() == 0.5);
  CHECK(parse_number("3E+2").value() == 300);
  CHECK(parse_fraction("2%").value() == 0.02);
  CHECK(parse_fraction("0.25").value() == 0.25);
  CHECK(parse_fraction("12.5 %").value() == 0.125);
  CHECK(parse_boolean("True").value());
  CHECK_FALSE(parse_boolean("false").value());
  for (const char* wrong : {"1e", "1e400", "nan", ".inf", "1%", "x"})
    CHECK_FALSE(parse_number(wrong).has_value());
  for (const char* wrong : {"yes", "on", "1", ""}) CHECK_FALSE(parse_boolean(wrong).has_value());
}

TEST_CASE("parse: sizes, rates and times") {
  CHECK(parse_bytes("25MiB").value() == mebibytes(25));
  CHECK(parse_bytes("1.5 GiB").value() == Bytes{1'610'612'736});
  CHECK(parse_bytes("80 GB").value() == Bytes{80'000'000'000});
  CHECK(parse_bytes("512").value() == Bytes{512});
  CHECK(parse_bytes_per_second("3.5GB/s").value().value == 3.5e9);
  CHECK(parse_duration("30s").value() == Nanoseconds{30'000'000'000});
  CHECK(parse_duration("1.5 ms").value() == microseconds(1500));
  CHECK(parse_duration("10min").value() == Nanoseconds{600'000'000'000});
  for (const char* wrong : {"25 mib", "25Mi", "MiB", "1e30GiB"}) CHECK_FALSE(parse_bytes(wrong).has_value());
  for (const char* wrong : {"30", "s", "30 sec", "1e20h"}) CHECK_FALSE(parse_duration(wrong).has_value());
}

TEST_CASE("parse: what is written reads back") {
  for (const double value : {0.02, 0.25, 1.0 / 3, 0.15, 1e-7}) {
    CHECK(parse_fraction(format_fraction(value)).value() == value);
    CHECK(parse_number(format_number(value)).value() == value);
  }
  for (const std::int64_t value : {std::int64_t{1}, std::int64_t{1000}, std::int64_t{1024},
                                   std::int64_t{123456789}, std::int64_t{1} << 40}) {
    CHECK(parse_bytes(format_bytes(Bytes{value})).value() == Bytes{value});
    CHECK(parse_duration(format_duration(Nanoseconds{value})).value() == Nanoseconds{value});
  }
  CHECK(format_bytes(mebibytes(25)) == "25MiB");
  CHECK(format_duration(Nanoseconds{600'000'000'000}) == "10min");
  CHECK(format_fraction(0.15) == "15%");
}

}  // namespace
}  // namespace shardlab

#include "gui/view_model/data_table.h"

#include "tests/catch.h"

using namespace shardlab;
using namespace shardlab::view;

namespace {

DataTable three_rows() {
  DataTable table{"three", {{"name", "", false}, {"time", "ns"}}, {}};
  table.rows.push_back({{text_cell("b, \"quoted\""), time_cell(Nanoseconds{1500})}});
  table.rows.push_back({{text_cell("a"), time_cell({})}});
  table.rows.push_back({{text_cell("c"), time_cell(Nanoseconds{20})}});
  return table;
}

}  // namespace

TEST_CASE("a table sorts by value, absent ones last in either direction") {
  const DataTable table = three_rows();
  CHECK(sorted_rows(table, 1, false) == std::vector<std::size_t>{2, 0, 1});
  CHECK(sorted_rows(table, 1, true) == std::vector<std::size_t>{0, 2, 1});
  CHECK(sorted_rows(table, 0, false) == std::vector<std::size_t>{1, 0, 2});
  CHECK(sorted_rows(table, 9, false) == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("CSV has units in its titles, full numbers, and quotes where they are needed") {
  CHECK(to_csv(three_rows()) == "name,time (ns)\r\n\"b, \"\"quoted\"\"\",1500\r\na,\r\nc,20\r\n");
}

TEST_CASE("errors are coloured by size") {
  CHECK(tone_of_error(-0.03) == CellTone::good);
  CHECK(tone_of_error(0.1) == CellTone::fair);
  CHECK(tone_of_error(-0.2) == CellTone::bad);
  CHECK(error_cell(-0.1834).text == "-18.3 %");
  CHECK(error_cell({}).text == "-");
  CHECK(error_cell(0.0).text == "0 %");  // exactly
  CHECK(error_cell(1e-9).text == "+0.00 %");
}

TEST_CASE("nothing at all is faint, so that what there is stands out") {
  CHECK(bytes_cell(Bytes{0}).tone == CellTone::faint);
  CHECK(bytes_cell(Bytes{1}).tone == CellTone::plain);
  CHECK(share_cell(0.0).tone == CellTone::faint);
  CHECK(share_cell(0.5).tone == CellTone::plain);
}

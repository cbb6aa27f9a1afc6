#include "engine/report/explain_memory/byte_formula.h"

#include "engine/report/figures.h"

namespace shardlab {
namespace {

std::string words_of(const Factor& factor) {
  const std::string number = grouped(factor.value);
  if (factor.name.empty()) return number;
  const bool one = factor.value == 1 && factor.name.ends_with('s');
  return number + " " + (one ? factor.name.substr(0, factor.name.size() - 1) : factor.name);
}

}  // namespace

Bytes ByteProduct::bytes() const {
  Bytes product{1};
  for (const Factor& each : factors) product = product * each.value;
  for (const Factor& each : divisors) product = product / each.value;
  return product;
}

Bytes bytes_of(const ByteFormula& formula) {
  Bytes sum;
  for (const ByteProduct& each : formula) sum += each.bytes();
  return sum;
}

std::string to_text(const ByteProduct& product) {
  std::string text;
  for (const Factor& each : product.factors) text += (text.empty() ? "" : " x ") + words_of(each);
  for (const Factor& each : product.divisors) text += " / " + words_of(each);
  return text;
}

std::string to_text(const ByteFormula& formula) {
  std::string text;
  for (const ByteProduct& each : formula) text += (text.empty() ? "" : " + ") + to_text(each);
  return text;
}

}  // namespace shardlab

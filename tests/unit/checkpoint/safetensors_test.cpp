#include "engine/checkpoint/safetensors.h"

#include <bit>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>

#include "engine/checkpoint/model_weights.h"
#include "engine/checkpoint/safetensors_header.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;
using test::contains_text;
using Folder = test::TemporaryFolder;

fs::path write_raw(const fs::path& path, const std::string& header, const std::string& data,
                   std::int64_t length = -1) {
  std::ofstream stream(path, std::ios::binary);
  const auto bytes =
      static_cast<std::uint64_t>(length < 0 ? static_cast<std::int64_t>(header.size()) : length);
  for (int i = 0; i < 8; ++i) stream.put(static_cast<char>(bytes >> (8 * i) & 0xffU));
  stream << header << data;
  return path;
}

TensorToWrite tensor(const std::string& name, DType dtype, Shape shape, const void* data) {
  const auto bytes = static_cast<std::size_t>(element_count(shape) * element_size(dtype));
  return {name, dtype, std::move(shape), {static_cast<const std::byte*>(data), bytes}};
}

std::string complaint(const fs::path& path) {
  const auto reader = SafetensorsReader::open(path);
  REQUIRE_FALSE(reader);
  CHECK(reader.error().kind == ErrorKind::bad_input);
  return to_string(reader.error());
}

TEST_CASE("tensors come back, whole and in part") {
  const Folder folder;
  const std::vector<float> values = {1.0F, -2.5F, 3.25F, 0.0F, 1e-30F, 7.0F};
  const std::vector<float> one = {42.0F};
  const std::vector<TensorToWrite> tensors = {tensor("b", DType::float32, {2, 3}, values.data()),
                                              tensor("a", DType::float32, {}, one.data())};
  REQUIRE_OK(write_safetensors(folder.path() / "m.safetensors", tensors));
  const auto reader = SafetensorsReader::open(folder.path() / "m.safetensors");
  REQUIRE_OK(reader);
  CHECK(reader->tensors().at("b").shape == Shape{2, 3});
  std::vector<float> part(2);
  REQUIRE_OK(reader->read("b", 1, part));
  CHECK(part == std::vector<float>{-2.5F, 3.25F});
  std::vector<float> scalar(1);
  REQUIRE_OK(reader->read("a", 0, scalar));
  CHECK(scalar == one);
  REQUIRE_OK(reader->read("a", 1, {}));  // nothing is behind the last element
  CHECK_FALSE(reader->read("b", 5, part));
  CHECK_FALSE(reader->read("c", 0, part));
}

TEST_CASE("half precision is converted exactly") {
  const Folder folder;
  const std::vector<std::uint16_t> bf16 = {0x3f80, 0xc020, 0x0001, 0x7f80};
  const std::vector<std::uint16_t> f16 = {0x3c00, 0xc100, 0x0001, 0x7bff, 0x8000, 0xfc00, 0x03ff};
  REQUIRE_OK(write_safetensors(folder.path() / "m.safetensors",
                               std::vector<TensorToWrite>{tensor("bf16", DType::bfloat16, {4}, bf16.data()),
                                                          tensor("f16", DType::float16, {7}, f16.data())}));
  const auto reader = SafetensorsReader::open(folder.path() / "m.safetensors");
  REQUIRE_OK(reader);
  std::vector<float> values(4);
  REQUIRE_OK(reader->read("bf16", 0, values));
  CHECK(values == std::vector<float>{1.0F, -2.5F, std::bit_cast<float>(0x00010000U), INFINITY});
  values.resize(7);
  REQUIRE_OK(reader->read("f16", 0, values));
  CHECK(values == std::vector<float>{1.0F, -2.5F, 0x1p-24F, 65504.0F, -0.0F, -INFINITY, 1023 * 0x1p-24F});
  CHECK(std::signbit(values[4]));
}

TEST_CASE("an index leads to several files") {
  const Folder folder;
  const std::vector<float> values = {1.0F, 2.0F};
  REQUIRE_OK(write_safetensors(folder.path() / "1.safetensors",
                               std::vector<TensorToWrite>{tensor("a", DType::float32, {2}, values.data())}));
  REQUIRE_OK(write_safetensors(folder.path() / "2.safetensors",
                               std::vector<TensorToWrite>{tensor("b", DType::float32, {2}, values.data())}));
  const fs::path index = folder.path() / "model.safetensors.index.json";
  std::ofstream(index) << R"({"weight_map": {"a": "1.safetensors", "b": "2.safetensors"}})";
  for (const fs::path& path : {index, folder.path()}) {
    const auto reader = SafetensorsReader::open(path);
    REQUIRE_OK(reader);
    CHECK(reader->tensors().size() == 2);
    std::vector<float> read(1);
    REQUIRE_OK(reader->read("b", 1, read));
    CHECK(read[0] == 2.0F);
  }
  std::ofstream(index) << R"({"weight_map": {"a": "2.safetensors"}})";
  CHECK_THAT(complaint(index), contains_text("tensor 'a' is not in 2.safetensors"));
  std::ofstream(index) << R"({"weight_map": {"a": "../1.safetensors"}})";
  CHECK_THAT(complaint(index), contains_text("not the name of a file beside it"));
  std::ofstream(index) << R"({"weight_map": {"a": "3.safetensors"}})";
  CHECK_THAT(complaint(index), contains_text("3.safetensors"));
  std::ofstream(index) << "[1";
  CHECK_THAT(complaint(index), contains_text("is not an index"));
}

TEST_CASE("damaged files are refused with the reason") {
  const Folder folder;
  const fs::path path = folder.path() / "m.safetensors";
  const std::string a = R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  const std::string b = R"("b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]})";
  const std::string data(12, 'x');

  REQUIRE_OK(SafetensorsReader::open(write_raw(path, "{" + a + "," + b + "}", data)));

  CHECK_THAT(complaint(folder.path() / "none.safetensors"), contains_text("no such file"));
  std::ofstream(path, std::ios::trunc) << "short";
  CHECK_THAT(complaint(path), contains_text("too short"));
  CHECK_THAT(complaint(write_raw(path, "{" + a + "}", data, 1'000'000)), contains_text("beyond the end"));
  CHECK_THAT(complaint(write_raw(path, "{" + a + "}", data, std::numeric_limits<std::int64_t>::max())),
             contains_text("beyond the end"));
  CHECK_THAT(complaint(write_raw(path, "{" + a + "," + b + "}", data.substr(2))), contains_text("cut off"));
  CHECK_THAT(complaint(write_raw(path, "{" + a + "," + b + "}", data + "y")),
             contains_text("belong to no tensor"));
  CHECK_THAT(complaint(write_raw(path, "{" + b + "}", data)), contains_text("belong to no tensor"));
  CHECK_THAT(complaint(write_raw(path, "{" + a + "," + a + "}", data.substr(4))),
             contains_text("two tensors are called 'a'"));
  CHECK_THAT(complaint(write_raw(path,
                                 R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                                 R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
                                 data)),
             contains_text("overlaps"));
  CHECK_THAT(complaint(write_raw(path, R"({"a":{"dtype":"F31","shape":[3],"data_offsets":[0,12]}})", data)),
             contains_text("unknown dtype 'F31'"));
  CHECK_THAT(complaint(write_raw(path, R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,12]}})", data)),
             contains_text("its shape needs 16 bytes"));
  CHECK_THAT(
      complaint(write_raw(
          path, R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,12]}})", data)),
      contains_text("impossible shape"));
  CHECK_THAT(complaint(write_raw(path, R"({"a":{"dtype":"F32","shape":[-3],"data_offsets":[0,12]}})", data)),
             contains_text("impossible shape"));
  CHECK_THAT(complaint(write_raw(path, R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[12,0]}})", data)),
             contains_text("lies outside"));
  CHECK_THAT(complaint(write_raw(path, R"({"a":{"dtype":"F32","shape":[3]}})", data)),
             contains_text("data_offsets"));
  CHECK_THAT(complaint(write_raw(path, "[]", data)), contains_text("not a JSON object"));
  CHECK_THAT(complaint(write_raw(path, "{\"a\":", data)), contains_text("not a JSON object"));
}

// The tensors have a byte each; the last one is called as given.
std::string header_of_many(int tensors, const std::string& last) {
  std::string json = "{";
  for (int i = 0; i < tensors; ++i) {
    const std::string name = i + 1 == tensors ? last : "layer." + std::to_string(i);
    json += (i == 0 ? "\"" : ",\"") + name + R"(":{"dtype":"U8","shape":[1],"data_offsets":[)" +
            std::to_string(i) + "," + std::to_string(i + 1) + "]}";
  }
  return json + "}";
}

double seconds_to_read(int tensors) {
  const std::string header = header_of_many(tensors, "last");
  const auto begin = std::chrono::steady_clock::now();
  const auto entries = parse_safetensors_header(header, 0, tensors, "m");
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  REQUIRE_OK(entries);
  CHECK(entries->size() == static_cast<std::size_t>(tensors));
  return passed.count();
}

TEST_CASE("a header with a million tensors takes as much longer as it has more of them") {
  const double few = seconds_to_read(100'000), many = seconds_to_read(1'000'000);
  CAPTURE(few, many);
  CHECK(many < few * 40);  // a hundred times as long, if it grew with their square
}

TEST_CASE("of very many tensors one that is named twice is found") {
  const auto twice = parse_safetensors_header(header_of_many(100'000, "layer.7"), 0, 100'000, "m");
  REQUIRE_FALSE(twice);
  CHECK_THAT(twice.error().what, contains_text("two tensors are called 'layer.7'"));
}

TEST_CASE("a full disk leaves no file behind") {
  const std::vector<float> values(1 << 16, 1.0F);
  const Status written =
      write_safetensors("/dev/full/m.safetensors",
                        std::vector<TensorToWrite>{tensor("a", DType::float32, {1 << 16}, values.data())});
  REQUIRE_FALSE(written);
  CHECK(written.error().kind == ErrorKind::run_failed);
}

ModelGraph small_graph() {
  ModelGraph graph;
  Module root;
  Module embedding;
  embedding.path = "model.embed_tokens";
  embedding.parameters = {ParameterId{0}};
  Module head;
  head.path = "lm_head";
  head.parameters = {ParameterId{0}};
  graph.modules = {root, embedding, head};
  Parameter parameter;
  parameter.name = "model.embed_tokens.weight";
  parameter.shape = {3, 2};
  graph.parameters = {parameter};
  return graph;
}

std::string match_complaint(const Folder& folder, const std::vector<TensorToWrite>& tensors) {
  REQUIRE_OK(write_safetensors(folder.path() / "m.safetensors", tensors));
  const auto reader = SafetensorsReader::open(folder.path() / "m.safetensors");
  REQUIRE_OK(reader);
  const Status matched = match_model(*reader, small_graph());
  return matched ? "" : to_string(matched.error());
}

TEST_CASE("weights are compared with the model by name and shape") {
  const Folder folder;
  const std::vector<float> values(6);
  const auto good = tensor("model.embed_tokens.weight", DType::float32, {3, 2}, values.data());
  CHECK(match_complaint(folder, {good}).empty());
  CHECK(match_complaint(folder, {good, tensor("lm_head.weight", DType::float32, {3, 2}, values.data())})
            .empty());
  CHECK_THAT(
      match_complaint(folder, {tensor("model.embed_tokens.weight", DType::float32, {2, 3}, values.data())}),
      contains_text("another shape: model.embed_tokens.weight is [2, 3] where the model has [3, 2]"));
  const std::string both = match_complaint(folder, {tensor("other", DType::float32, {1}, values.data())});
  CHECK_THAT(both,
             contains_text("missing: model.embed_tokens.weight") && contains_text("not in the model: other"));
}

}  // namespace
}  // namespace shardlab

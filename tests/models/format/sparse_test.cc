// Sparse constants: LiteRT's answers for every layout, and what pruned models become when their
// weights are stored so. The models are made by make_sparse_golden.py.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "models/format/compress/prune.h"
#include "models/format/edited_table.h"
#include "runtime/session/session.h"
#include "runtime/train/random.h"
#include "tests/support/classifiers.h"
#include "tests/support/embedded.h"
#include "tests/support/npz.h"
#include "tests/support/open_session.h"
#include "tflite_generated.h"

namespace topwork {
namespace sparse_test {

test::Npz Golden() {
  const test::EmbeddedFile* file = test::FindEmbedded("tests/data/format/sparse.npz");
  REQUIRE(file != nullptr);
  return test::ReadNpz(file->data, file->size);
}

TEST_CASE("sparse: constants in every layout, and int4 in blocks, are LiteRT's", "[format]") {
  const test::Npz golden = Golden();
  std::set<std::string> cases;
  for (const auto& entry : golden) cases.insert(entry.first.substr(0, entry.first.find('/')));
  REQUIRE(cases.size() == 17);
  for (const std::string& name : cases) {
    INFO(name);
    const std::string& bytes = golden.at(name + "/model").data;
    const auto model = test::OpenBytes(test::Bytes(bytes.begin(), bytes.end()));
    const std::vector<float> want = golden.at(name + "/y").as<float>();
    const std::vector<float> got = test::RunModel(model, golden.at(name + "/x").as<float>());
    REQUIRE(got.size() == want.size());
    double most = 0.0;
    for (size_t i = 0; i < got.size(); ++i) {
      most = std::max(most, std::fabs(static_cast<double>(got[i] - want[i])));
    }
    CHECK(most < 1e-5);
  }
}

TEST_CASE("sparse: DENSIFY is folded away", "[format]") {
  const std::string bytes = Golden().at("f32_block_4x3/model").data;
  SessionOptions options;
  options.n_threads = 1;
  const auto session =
      Session::Create(test::OpenBytes(test::Bytes(bytes.begin(), bytes.end())), options);
  REQUIRE(session.status().ToString() == "OK");
  REQUIRE((*session)->plan().steps.size() == 1);
  CHECK((*session)->plan().steps[0].def->code == OpCode::kFullyConnected);
}

// x [2, 64] → FULLY_CONNECTED [32, 64] → y.
test::ModelSpec DenseSpec(DType type) {
  test::ModelSpec spec;
  Random random(3);
  std::vector<float> w(32 * 64);
  for (float& v : w) v = static_cast<float>(random.Gaussian());
  const int x = spec.AddInput("x", DType::kFloat32, {2, 64});
  int weights = -1;
  if (type == DType::kFloat32) {
    weights = spec.AddConstant("w", type, {32, 64}, test::ToBytes(w));
  } else {
    std::vector<uint16_t> halves;
    for (float v : w) halves.push_back(FloatToHalf(v));
    const int half = spec.AddConstant("w", type, {32, 64}, test::ToBytes(halves));
    weights = spec.AddTensor("w32", DType::kFloat32, {32, 64});
    spec.AddOp(OpCode::kDequantize, {half}, {weights});
  }
  const int y = spec.AddTensor("y", DType::kFloat32, {2, 32});
  spec.AddOp(OpCode::kFullyConnected, {x, weights, -1}, {y},
             test::OptionsSpec(test::kFullyConnectedOptions));
  spec.main().outputs = {y};
  return spec;
}

TEST_CASE("sparse: pruned weights stored sparse give the answers of dense ones", "[format]") {
  std::vector<float> x(2 * 64);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  for (DType type : {DType::kFloat32, DType::kFloat16}) {
    const auto model = test::OpenBytes(test::BuildModel(DenseSpec(type)));
    for (int rows : {1, 4, 3}) {  // 3 divides nothing
      for (int columns : {1, 16}) {
        INFO(DTypeName(type) << " " << rows << "x" << columns);
        PruneSpec spec;
        spec.sparsity = 0.9;
        spec.block_rows = rows;
        spec.block_columns = columns;
        PruneReport report;
        const auto dense = PruneModel(*model, spec, &report);
        REQUIRE(dense.status().ToString() == "OK");
        CHECK(report.n_sparse == 0);
        spec.sparse_storage = true;
        const auto sparse = PruneModel(*model, spec, &report);
        REQUIRE(sparse.status().ToString() == "OK");
        CHECK(report.n_sparse == 1);
        CHECK(sparse->size() < 0.6 * static_cast<double>(dense->size()));
        CHECK(test::RunModel(test::OpenBytes(*sparse), x) ==
              test::RunModel(test::OpenBytes(*dense), x));
      }
    }
  }
}

TEST_CASE("sparse: weights that would not shrink stay dense", "[format]") {
  const auto model = test::OpenBytes(test::BuildModel(DenseSpec(DType::kFloat16)));
  PruneSpec spec;
  spec.sparsity = 0.1;
  spec.sparse_storage = true;
  PruneReport report;
  const auto bytes = PruneModel(*model, spec, &report);
  REQUIRE(bytes.status().ToString() == "OK");
  CHECK(report.n_sparse == 0);
  CHECK(test::OpenBytes(*bytes)->main().ops.size() == 2);
}

// A tensor [1, columns] of int8 in which a single element is stored.
test::TensorSpec OneStored(int32_t columns, uint32_t buffer) {
  test::TensorSpec tensor;
  tensor.type = static_cast<int>(DType::kInt8);
  tensor.shape = {1, columns};
  tensor.buffer = buffer;
  tensor.traversal_order = {0, 1};
  tensor.levels.resize(2);
  tensor.levels[0].dense_size = 1;
  tensor.levels[1].format = 1;
  tensor.levels[1].index_type = 1;
  tensor.levels[1].segments = {0, 1};
  tensor.levels[1].indices = {5};
  return tensor;
}

Status OpenStatus(const test::ModelSpec& spec) { return test::TryOpenSpec(spec).status(); }

TEST_CASE("sparse: a tensor without elements has no nodes to visit", "[format]") {
  test::ModelSpec spec = DenseSpec(DType::kFloat32);
  test::TensorSpec tensor;
  tensor.type = static_cast<int>(DType::kInt8);
  // As many nodes as size_t can count the bits of.
  tensor.shape = sizeof(size_t) > 4 ? std::vector<int32_t>{INT32_MAX, 1 << 27, 0}
                                    : std::vector<int32_t>{1 << 27, 1, 0};
  tensor.traversal_order = {0, 1, 2};
  tensor.levels.resize(3);
  for (size_t i = 0; i < 3; ++i) tensor.levels[i].dense_size = tensor.shape[i];
  spec.main().tensors.push_back(tensor);
  CHECK(OpenStatus(spec).ToString() == "OK");
}

TEST_CASE("sparse: what all tensors expand to is bounded by the file", "[format]") {
  test::ModelSpec spec = DenseSpec(DType::kFloat32);
  const uint32_t buffer = spec.AddBuffer({1});
  for (int i = 0; i < 2; ++i) spec.main().tensors.push_back(OneStored(1000000, buffer));
  CHECK(OpenStatus(spec).ToString() == "OK");
  for (int i = 0; i < 40; ++i) spec.main().tensors.push_back(OneStored(1000000, buffer));
  const Status status = OpenStatus(spec);
  CHECK(status.code() == StatusCode::kInvalidModel);
  CHECK_THAT(status.message(), Catch::Contains("it stands for more dense bytes (1000000 of its"));
}

// int4 weights [64, 512] of one buffer, each in blocks of its own quantization.
test::Bytes BlockModel(size_t n_tensors) {
  test::ModelSpec spec = DenseSpec(DType::kFloat32);
  test::TensorSpec tensor;
  tensor.type = static_cast<int>(DType::kInt4);
  tensor.shape = {64, 512};
  tensor.buffer = spec.AddBuffer(test::Bytes(64 * 512 / 2));
  const size_t first = spec.main().tensors.size();
  spec.main().tensors.resize(first + n_tensors, tensor);
  const test::Bytes plain = test::BuildModel(spec);
  EditedTable model(kModel, plain.data() + flatbuffers::ReadScalar<uint32_t>(plain.data()));
  std::vector<EditedTable>& tensors =
      model.Tables(schema::Model::VT_SUBGRAPHS)[0].Tables(schema::SubGraph::VT_TENSORS);
  for (size_t i = first; i < tensors.size(); ++i) {
    tensors[i]
        .NewTable(schema::Tensor::VT_QUANTIZATION, kQuantizationParameters)
        ->NewTable(schema::QuantizationParameters::VT_DETAILS, kBlockwiseQuantization)
        ->Set<int32_t>(schema::BlockwiseQuantization::VT_BLOCK_SIZE, 32, 0);
  }
  return model.WriteFile(schema::ModelIdentifier(), plain.size());
}

TEST_CASE("blocks: what all tensors expand to is bounded by the file", "[format]") {
  const auto status = [](const test::Bytes& bytes) {
    return Model::OpenMemory(bytes.data(), bytes.size(), true).status();
  };
  CHECK(status(BlockModel(20)).ToString() == "OK");
  const Status many = status(BlockModel(200));
  CHECK(many.code() == StatusCode::kInvalidModel);
  CHECK_THAT(many.message(), Catch::Contains("it stands for more dense bytes (131072 of its"));
}

}  // namespace sparse_test
}  // namespace topwork

// Tables written anew equal those they came from, field by field; and what is edited is what a
// reader finds.
#include "models/format/edited_table.h"

#include <flatbuffers/flatbuffers.h>

#include <catch2/catch.hpp>

#include "models/format/verify_context.h"
#include "tests/support/classifiers.h"
#include "tests/support/embedded.h"
#include "tests/support/model_builder.h"

namespace topwork {
namespace edited_table_test {

using flatbuffers::ReadScalar;
using test::Bytes;
using test::OptionsSpec;

constexpr int kVersionVt = 4, kSubgraphsVt = 8, kDescriptionVt = 10;  // of Model
constexpr int kOperatorsVt = 10;                                      // of SubGraph
constexpr int kOptionsVt = 12, kCustomVt = 14;                        // of Operator

const uint8_t* Root(const Bytes& file) { return file.data() + ReadScalar<uint32_t>(file.data()); }

const uint8_t* Place(const uint8_t* table, int vt) {
  return reinterpret_cast<const flatbuffers::Table*>(table)->GetAddressOf(
      static_cast<flatbuffers::voffset_t>(vt));
}

const uint8_t* Target(const uint8_t* place) {
  return place == nullptr ? nullptr : place + ReadScalar<uint32_t>(place);
}

uint32_t Count(const uint8_t* vector) {
  return vector == nullptr ? 0 : ReadScalar<uint32_t>(vector);
}

Bytes Content(const uint8_t* place, TableField field) {
  if (place == nullptr) return {};
  if (field.kind == FieldKind::kNumber) return Bytes(place, place + field.detail);
  const uint8_t* vector = Target(place);
  const size_t size = field.kind == FieldKind::kList ? field.detail : 1;
  return Bytes(vector + 4, vector + 4 + Count(vector) * size);
}

// Empty: equal. Otherwise where the first difference is.
std::string Difference(TableLayout layout, const uint8_t* a, const uint8_t* b) {
  const Span<const TableField> fields = FieldsOf(layout);
  for (size_t i = 0; i < fields.size(); ++i) {
    const int vt = static_cast<int>(4 + 2 * i);
    const std::string here = "/" + std::to_string(i);
    const uint8_t* in_a = Place(a, vt);
    const uint8_t* in_b = Place(b, vt);
    std::vector<std::pair<const uint8_t*, const uint8_t*>> children;
    TableLayout child = static_cast<TableLayout>(fields[i].detail);
    switch (fields[i].kind) {
      case FieldKind::kCount:
      case FieldKind::kUnused:
        continue;
      case FieldKind::kTexts:
      case FieldKind::kTables:
        if (Count(Target(in_a)) != Count(Target(in_b))) return here + " count";
        for (uint32_t k = 0; k < Count(Target(in_a)); ++k) {
          const size_t at = 4 + 4 * size_t{k};
          children.push_back({Target(Target(in_a) + at), Target(Target(in_b) + at)});
        }
        break;
      case FieldKind::kUnion:
        child = AlternativeOf(fields[i].detail, in_a == nullptr ? 0 : *Place(a, vt - 2));
        [[fallthrough]];
      case FieldKind::kTable:
        if ((in_a == nullptr) != (in_b == nullptr)) return here + " missing";
        if (in_a != nullptr) children.push_back({Target(in_a), Target(in_b)});
        break;
      default:
        if (Content(in_a, fields[i]) != Content(in_b, fields[i])) return here;
    }
    for (size_t k = 0; k < children.size(); ++k) {
      const auto [x, y] = children[k];
      const std::string inside =
          fields[i].kind == FieldKind::kTexts
              ? (Bytes(x, x + 4 + Count(x)) == Bytes(y, y + 4 + Count(y)) ? "" : "text")
              : Difference(child, x, y);
      if (!inside.empty()) return here + "[" + std::to_string(k) + "]" + inside;
    }
  }
  return "";
}

void CheckCopy(const Bytes& file) {
  const Bytes copy = EditedTable(kModel, Root(file)).WriteFile("TFL3", file.size());
  REQUIRE(VerifyFile(copy, "TFL3", kModel));
  CHECK(Difference(kModel, Root(file), Root(copy)) == "");
  CHECK(EditedTable(kModel, Root(file)).Size() >= copy.size());
}

TEST_CASE("edited table: models of the zoo are written as they were", "[format][zoo]") {
  for (const char* name :
       {"digits_cnn_f32", "digits_cnn_fp16", "digits_mlp_f32", "efficientnet_lite0_fp16"}) {
    INFO(name);
    const test::EmbeddedFile* file =
        test::FindEmbedded((std::string("models/zoo/") + name + ".tflite").c_str());
    REQUIRE(file != nullptr);
    CheckCopy(Bytes(file->data, file->data + file->size));
  }
}

// An operator with options of each kind, every field of which has a value.
TEST_CASE("edited table: options of every kind are written as they were", "[format]") {
  for (const bool second : {false, true}) {
    const UnionLayout which = second ? kBuiltinOptions2 : kBuiltinOptions;
    for (uint8_t kind = 1; AlternativeOf(which, kind) != kNoLayout; ++kind) {
      test::ModelSpec spec = test::ClassifierSpec(test::Tail::kDense);
      OptionsSpec options(kind, second);
      const Span<const TableField> fields = FieldsOf(AlternativeOf(which, kind));
      for (size_t i = 0; i < fields.size(); ++i) {
        const int n = static_cast<int>(i);
        if (fields[i].kind == FieldKind::kText) options.Text(n, "text");
        if (fields[i].kind == FieldKind::kNumber && fields[i].detail == 1) options.Byte(n, 1);
        if (fields[i].kind == FieldKind::kNumber && fields[i].detail == 4)
          options.Int(n, 70000 + n);
        if (fields[i].kind == FieldKind::kNumber && fields[i].detail == 8) options.Long(n, 9u + i);
        if (fields[i].kind == FieldKind::kList && fields[i].detail == 4) options.Ints(n, {n, 3, 4});
        if (fields[i].kind == FieldKind::kList && fields[i].detail == 8) options.Longs(n, {n, 3});
      }
      spec.main().ops[0].options = options;
      spec.main().ops[0].custom_options = {1, 2, 3};
      INFO("kind " << static_cast<int>(kind));
      CheckCopy(test::BuildModel(spec));
    }
  }
}

TEST_CASE("edited table: fields are replaced, left out and added", "[format]") {
  test::ModelSpec spec = test::ClassifierSpec(test::Tail::kDense);
  spec.description = "before";
  spec.main().ops[0].custom_options = {1, 2, 3};
  const Bytes file = test::BuildModel(spec);
  EditedTable model(kModel, Root(file));
  CHECK(model.Get<uint32_t>(kVersionVt, 0) == 3);
  CHECK(model.Text(kDescriptionVt) == "before");
  model.SetText(kDescriptionVt, "after");
  EditedTable& subgraph = model.Tables(kSubgraphsVt)[0];
  std::vector<EditedTable>& ops = subgraph.Tables(kOperatorsVt);
  const size_t n_ops = ops.size();
  ops[0].Clear(kCustomVt);
  ops[0].NewTable(kOptionsVt, kSqueezeOptions)->SetList(4, std::vector<int32_t>{2, 1});
  ops[1].ClearUnion(kOptionsVt);
  ops.emplace_back(kOperator);
  ops.back().NewTable(kOptionsVt, kSoftmaxOptions)->Set(4, 2.0f, 0.0f);
  const EditedTable copied = ops[0];

  const Bytes written = model.WriteFile("TFL3", 0);
  REQUIRE(VerifyFile(written, "TFL3", kModel));
  EditedTable read(kModel, Root(written));
  CHECK(read.Text(kDescriptionVt) == "after");
  std::vector<EditedTable>& read_ops = read.Tables(kSubgraphsVt)[0].Tables(kOperatorsVt);
  REQUIRE(read_ops.size() == n_ops + 1);
  CHECK_FALSE(read_ops[0].Has(kCustomVt));
  REQUIRE(read_ops[0].UnionKind(kOptionsVt) == kSqueezeOptions);
  CHECK(read_ops[0].Table(kOptionsVt)->List<int32_t>(4) == std::vector<int32_t>{2, 1});
  CHECK(read_ops[1].UnionKind(kOptionsVt) == kNoLayout);
  CHECK(read_ops[1].Table(kOptionsVt) == nullptr);
  REQUIRE(read_ops[n_ops].UnionKind(kOptionsVt) == kSoftmaxOptions);
  CHECK(read_ops[n_ops].Table(kOptionsVt)->Get(4, 0.0f) == 2.0f);
  CHECK(read_ops[n_ops].Get<uint32_t>(4, 7) == 7);  // left out: the reader's default
}

TEST_CASE("edited table: its size counts what its users share once for each", "[format]") {
  test::ModelSpec spec = test::ClassifierSpec(test::Tail::kDense);
  spec.main().ops[0].custom_options.resize(1 << 20);
  const Bytes file = test::BuildModel(spec);
  EditedTable model(kModel, Root(file));
  CHECK(model.Size() >= file.size());
  CHECK(model.Size() <= file.size() + 20000);
  std::vector<EditedTable>& ops = model.Tables(kSubgraphsVt)[0].Tables(kOperatorsVt);
  const EditedTable shared = ops[0];
  for (int i = 0; i < 7; ++i) ops.push_back(shared);
  CHECK(model.Size() >= model.WriteFile("TFL3", 0).size());
  for (int i = 8; i < 3000; ++i) ops.push_back(shared);
  CHECK(model.Size() >= uint64_t{3000} << 20);
}

}  // namespace edited_table_test
}  // namespace topwork

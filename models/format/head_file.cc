// Heads to bytes and back.
#include "models/format/head_file.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "head_generated.h"
#include "models/format/text.h"
#include "runtime/base/record_file.h"

namespace topwork {
namespace {

RecordId HeadId() { return {RecordKind::kHead, 1, ""}; }

NamedArray FromTable(const head_schema::Parameter& p) {
  NamedArray array;
  array.name = Text(p.name());
  if (p.dims() != nullptr) array.dims.assign(p.dims()->begin(), p.dims()->end());
  if (p.values() != nullptr) array.values.assign(p.values()->begin(), p.values()->end());
  return array;
}

HeadData FromTable(const head_schema::Head& h) {
  HeadData data;
  data.model_sha256 = Text(h.model_sha256());
  data.output = h.output();
  data.appended = h.appended();
  data.dim = h.dim();
  data.n_classes = h.n_classes();
  for (uint32_t i = 0; h.class_names() != nullptr && i < h.class_names()->size(); ++i) {
    data.class_names.push_back(Text(h.class_names()->Get(i)));
  }
  data.loss = h.loss();
  data.temperature = h.temperature();
  for (uint32_t i = 0; h.parameters() != nullptr && i < h.parameters()->size(); ++i) {
    data.parameters.push_back(FromTable(*h.parameters()->Get(i)));
  }
  return data;
}

Status CheckArray(const NamedArray& array) {
  uint64_t n = 1;
  bool sound = !array.dims.empty();
  for (int64_t dim : array.dims) {
    sound = sound && dim >= 1 && static_cast<uint64_t>(dim) <= array.values.size() / n;
    if (!sound) break;
    n *= static_cast<uint64_t>(dim);
  }
  if (!sound || n != array.values.size()) {
    return Corrupt("the head file contradicts itself: '{}' has {} values, not those of its shape",
                   array.name, array.values.size());
  }
  if (!std::all_of(array.values.begin(), array.values.end(),
                   [](float x) { return std::isfinite(x); })) {
    return Corrupt("the head file holds a value of '{}' that is not finite", array.name);
  }
  return Status::Ok();
}

Status CheckConsistent(const HeadData& data) {
  const bool named = data.class_names.empty() ||
                     data.class_names.size() == static_cast<size_t>(std::max(0, data.n_classes));
  if (data.dim < 1 || data.n_classes < 1 || data.output < 0 || !named || data.parameters.empty()) {
    return Corrupt(
        "the head file contradicts itself: {} classes, {} class names, {} features, {} parameters",
        data.n_classes, data.class_names.size(), data.dim, data.parameters.size());
  }
  if (!std::isfinite(data.temperature) || data.temperature <= 0.0f) {
    return Corrupt("the head file has the temperature {}, expected more than 0", data.temperature);
  }
  std::set<std::string> names;
  for (const NamedArray& array : data.parameters) {
    TW_RETURN_IF_ERROR(CheckArray(array));
    if (!names.insert(array.name).second) {
      return Corrupt("the head file has two parameters named '{}'", array.name);
    }
  }
  return Status::Ok();
}

}  // namespace

std::vector<uint8_t> EncodeHead(const HeadData& data) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<head_schema::Parameter>> parameters;
  for (const NamedArray& array : data.parameters) {
    const auto name = builder.CreateString(array.name);
    const auto dims = builder.CreateVector(array.dims);
    const auto values = builder.CreateVector(array.values);
    parameters.push_back(head_schema::CreateParameter(builder, name, dims, values));
  }
  const auto model = builder.CreateString(data.model_sha256);
  const auto names = builder.CreateVectorOfStrings(data.class_names);
  const auto arrays = builder.CreateVector(parameters);
  head_schema::FinishHeadBuffer(
      builder, head_schema::CreateHead(builder, model, data.output, data.appended, data.dim,
                                       data.n_classes, names, data.loss, data.temperature, arrays));
  return PackRecord(HeadId(), {builder.GetBufferPointer(), builder.GetSize()});
}

Result<HeadData> DecodeHead(Span<const uint8_t> bytes) {
  TW_ASSIGN_OR_RETURN(const Buffer payload, CopyRecord(HeadId(), bytes));
  flatbuffers::Verifier verifier(payload.as<uint8_t>(), payload.size(), 8);
  if (!head_schema::VerifyHeadBuffer(verifier)) {
    return Corrupt("the head file's contents are malformed");
  }
  const auto* root = head_schema::GetHead(payload.data());
  HeadData data = FromTable(*root);
  TW_RETURN_IF_ERROR(CheckConsistent(data));
  return data;
}

}  // namespace topwork

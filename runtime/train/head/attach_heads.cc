#include "runtime/train/head/attach_heads.h"

#include <map>
#include <utility>

#include "models/format/append.h"
#include "runtime/train/fit/loss.h"
#include "runtime/train/head/head.h"
#include "runtime/train/head/tail_graph.h"
#include "runtime/train/head/trainable.h"
#include "runtime/train/identity/identity_graph.h"

namespace topwork {
namespace {

class HeadAttacher {
 public:
  HeadAttacher(const Model& model, GraphAddition* addition)
      : model_(model), graph_(model.main()), addition_(*addition) {}

  Status Attach(const NamedHead& named) {
    const HeadData& data = named.data;
    if (data.model_sha256 != model_.sha256()) {
      return FailedPrecondition("it belongs to the model {}, the session has {}",
                                data.model_sha256.substr(0, 12), model_.sha256().substr(0, 12));
    }
    TW_ASSIGN_OR_RETURN(const Head head, FindHead(graph_, data.output, data.appended));
    if (head.dim != data.dim || head.appended() != data.appended) {
      return FailedPrecondition("it was trained on {} features of output {}, which has {} here",
                                data.dim, data.output, head.dim);
    }
    for (const NamedArray& array : data.parameters) arrays_[array.name] = &array;
    TW_ASSIGN_OR_RETURN(int scores, AddLogits(named.name, head, data));
    arrays_.clear();
    const OpCode activation =
        CodeFor(ReplacementFor(graph_, head, static_cast<Loss>(data.loss)).activation);
    if (activation != OpCode::kCustom) {
      scores = addition_.Op(activation, {scores}, named.name, DType::kFloat32,
                            {-1, static_cast<int32_t>(data.n_classes)});
    }
    AddedOutput output;
    output.tensor = scores;
    output.name = named.name;
    addition_.outputs.push_back(output);
    return Status::Ok();
  }

 private:
  // Taken from arrays_, so that what is left is what nobody knows. INVALID_ARGUMENT where it is not
  // there in that form (a dimension of 0: any).
  Result<const NamedArray*> Take(const char* name, std::vector<int64_t> dims) {
    const auto found = arrays_.find(name);
    const NamedArray* array = found == arrays_.end() ? nullptr : found->second;
    bool fits = array != nullptr && array->dims.size() == dims.size();
    for (size_t i = 0; fits && i < dims.size(); ++i) {
      fits = dims[i] == 0 || array->dims[i] == dims[i];
    }
    if (!fits)
      return FailedPrecondition("it has no '{}' that suits its {} features", name, dims.back());
    arrays_.erase(found);
    return array;
  }

  bool Has(const char* name) const { return arrays_.count(name) > 0; }

  Status CheckNothingLeft() const {
    if (arrays_.empty()) return Status::Ok();
    return Unsupported(
        "'{}', below the last layer, was trained with it, so its backbone is another: export it as a "
        "model of its own",
        arrays_.begin()->first);
  }

  Result<int> AddLogits(const std::string& name, const Head& head, const HeadData& data) {
    const int feature = FeatureOf(head);
    if (Has(kIdentityRows)) return AddNeighbours(name, feature, data);
    int64_t dim = data.dim;
    int input = feature;
    if (Has(kHiddenWeights)) {
      TW_ASSIGN_OR_RETURN(const NamedArray* weights, Take(kHiddenWeights, {0, dim}));
      dim = weights->dims[0];
      TW_ASSIGN_OR_RETURN(const NamedArray* bias, Take(kHiddenBias, {dim}));
      input = AddDense(name + "/hidden", input, weights->values, bias->values);
      addition_.ops.back().activation = Activation::kRelu;
    } else if (Has(kProjectionSeed)) {
      TW_ASSIGN_OR_RETURN(const int projected, AddProjection(name, feature, data.dim, &dim));
      input = projected;
    }
    TW_ASSIGN_OR_RETURN(const NamedArray* weights, Take(kHeadWeights, {data.n_classes, dim}));
    TW_ASSIGN_OR_RETURN(const NamedArray* bias, Take(kHeadBias, {data.n_classes}));
    TW_RETURN_IF_ERROR(CheckNothingLeft());
    const float scale = static_cast<float>(1.0 / static_cast<double>(data.temperature));
    std::vector<float> scaled = weights->values, offsets = bias->values;
    for (float& w : scaled) w *= scale;
    for (float& b : offsets) b *= scale;
    return AddDense(name + "/logits", input, scaled, offsets);
  }

  // As many units as the last layer reads.
  Result<int> AddProjection(const std::string& name, int feature, int64_t n_inputs,
                            int64_t* out_units) {
    TW_ASSIGN_OR_RETURN(const NamedArray* seed, Take(kProjectionSeed, {4}));
    const auto found = arrays_.find(kHeadWeights);
    const int64_t n_units = found == arrays_.end() ? 0 : found->second->dims.back();
    if (n_units < 1 || n_units > (1 << 16)) {
      return FailedPrecondition("its projection has {} units", n_units);
    }
    uint64_t value = 0;
    for (int i = 0; i < 4; ++i) {
      const float part = seed->values[static_cast<size_t>(i)];
      const bool is_part = part >= 0.0f && part < 65536.0f;
      value |= (is_part ? static_cast<uint64_t>(part) : 0) << (16 * i);
    }
    std::vector<float> weights(static_cast<size_t>(n_units * n_inputs));
    DrawWeights(value, n_inputs, weights);
    *out_units = n_units;
    const std::vector<float> zeros(static_cast<size_t>(n_units), 0.0f);
    const int projected = AddDense(name + "/projection", feature, weights, zeros);
    addition_.ops.back().activation = Activation::kRelu;
    return projected;
  }

  Result<int> AddNeighbours(const std::string& name, int feature, const HeadData& data) {
    std::vector<float> parameters;
    TW_ASSIGN_OR_RETURN(const NamedArray* rows, Take(kIdentityRows, {0, data.dim}));
    TW_ASSIGN_OR_RETURN(const NamedArray* classes, Take(kIdentityClasses, {rows->dims[0]}));
    TW_ASSIGN_OR_RETURN(const NamedArray* scale, Take(kIdentityScale, {1}));
    TW_ASSIGN_OR_RETURN(const NamedArray* neighbours, Take(kIdentityNeighbours, {1}));
    TW_RETURN_IF_ERROR(CheckNothingLeft());
    for (const NamedArray* array : {rows, classes, scale, neighbours}) {
      parameters.insert(parameters.end(), array->values.begin(), array->values.end());
    }
    IdentityView view = ViewIdentity(parameters, data.dim, data.n_classes);
    view.scale =
        static_cast<float>(static_cast<double>(view.scale) / static_cast<double>(data.temperature));
    return AddIdentity(view, HeadStorage::kFloat32, feature, name, &addition_);
  }

  int AddDense(const std::string& name, int input, Span<const float> weights,
               Span<const float> bias) {
    const int32_t n = static_cast<int32_t>(bias.size());
    const int32_t dim = static_cast<int32_t>(weights.size() / bias.size());
    const int w = addition_.Floats(name + "/weights", {n, dim}, weights);
    const int b = addition_.Floats(name + "/bias", {n}, bias);
    return addition_.Dense(input, w, b, name);
  }

  // As float32 [examples, dim], once for all heads.
  int FeatureOf(const Head& head) {
    const auto found = features_.find(head.feature);
    if (found != features_.end()) return found->second;
    const std::string name = graph_.values[static_cast<size_t>(head.feature)].name + "/rows";
    return features_[head.feature] = addition_.RealRows(head.feature, head.dim, name);
  }

  const Model& model_;
  const Graph& graph_;
  GraphAddition& addition_;
  std::map<std::string, const NamedArray*> arrays_;
  std::map<int, int> features_;  // the tensor that holds the rows
};

}  // namespace

Result<std::shared_ptr<const Model>> AttachHeads(std::shared_ptr<const Model> model,
                                                 const std::vector<const NamedHead*>& heads) {
  GraphAddition addition(*model);
  HeadAttacher attacher(*model, &addition);
  for (const NamedHead* head : heads) {
    const Status status = attacher.Attach(*head);
    if (!status.ok()) return status.WithPrefix(StrFormat("head '{}': ", head->name));
  }
  return ExtendModel(std::move(model), addition);
}

}  // namespace topwork

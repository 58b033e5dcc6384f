// Calibration: one run an example of a session that shows every activation.
#include "runtime/train/quantizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "kernels/contract/cpu_kernels.h"
#include "kernels/cpu/integer.h"
#include "models/format/constants.h"
#include "runtime/base/file.h"

namespace topwork {
namespace {

// Float values that operators compute. Of constants the writer knows the range itself.
std::vector<int> Activations(const Graph& graph) {
  std::vector<int> found;
  for (const Op& op : graph.ops) {
    if (IsDequantize(op.code)) continue;
    for (int v : op.outputs) {
      if (v >= 0 && graph.values[static_cast<size_t>(v)].dtype == DType::kFloat32) {
        found.push_back(v);
      }
    }
  }
  return found;
}

// Makes room for a mean of each channel of what layers with weights read; of other values none.
void PlaceMeans(const Graph& graph, std::vector<std::vector<float>>* means) {
  means->resize(graph.values.size());
  for (const Op& op : graph.ops) {
    if (op.def == nullptr || op.def->integer != IntegerForm::kWeighted) continue;
    const size_t data = op.def->weighted.data;
    if (data >= op.inputs.size() || op.inputs[data] < 0) continue;
    const size_t v = static_cast<size_t>(op.inputs[data]);
    const Value& value = graph.values[v];
    const int last = value.shape.rank() - 1;
    if (last < 0 || value.shape[last] <= 0 || value.dtype != DType::kFloat32) continue;
    (*means)[v].resize(static_cast<size_t>(value.shape[last]));
  }
}

void Widen(const ValueRange& with, ValueRange* range) {
  *range = range->known()
               ? ValueRange{std::min(range->min, with.min), std::max(range->max, with.max)}
               : with;
}

// x in units of its eighth significant bit, rounded by `round`. What is observed is kept so far, as it is
// the same on every processor: the sums of another instruction set round otherwise, and of 1e-7 in a
// scale a deep network of integers makes some per cent.
float Rounded(float x, float (*round)(float)) {
  int exponent = 0;
  const float mantissa = std::frexp(x, &exponent);
  return std::ldexp(round(std::ldexp(mantissa, 8)), exponent - 8);
}

}  // namespace

Result<std::unique_ptr<Quantizer>> Quantizer::Create(std::shared_ptr<const Model> model,
                                                     const QuantizerOptions& options) {
  if (options.target < QuantizeTarget::kDynamicRange || options.target > QuantizeTarget::kInt8) {
    return InvalidArgument("target {} does not exist", static_cast<int>(options.target));
  }
  if (options.io < QuantizeIo::kFloat32 || options.io > QuantizeIo::kUInt8) {
    return InvalidArgument("integer_io is {}; it is 0 (float), 1 (int8) or 2 (uint8)",
                           static_cast<int>(options.io));
  }
  if (!(options.percentile > 50.0 && options.percentile <= 100.0)) {
    return InvalidArgument("percentile is {}; it lies above 50 and is at most 100",
                           options.percentile);
  }
  if (options.min_elements < 0) {
    return InvalidArgument("min_elements is {}", options.min_elements);
  }
  std::unique_ptr<Quantizer> quantizer(new Quantizer());
  quantizer->options_ = options;
  quantizer->spec_.target = options.target;
  quantizer->spec_.min_elements = options.min_elements;
  quantizer->spec_.io = options.io;
  quantizer->spec_.ranges.resize(model->main().values.size());
  if (options.target == QuantizeTarget::kInt8) {
    SessionOptions session;
    session.n_threads = options.n_threads;
    session.allocator = options.allocator;
    quantizer->watched_ = Activations(model->main());
    session.outputs = quantizer->watched_;
    PlaceMeans(model->main(), &quantizer->spec_.means);
    TW_ASSIGN_OR_RETURN(quantizer->session_, Session::Create(model, session));
  }
  quantizer->model_ = std::move(model);
  return quantizer;
}

// False when a value is not finite.
bool Quantizer::RangeOf(const TensorView& view, ValueRange* out) {
  const size_t n = static_cast<size_t>(view.shape.NumElements());
  const float* x = view.as<float>();
  if (n == 0) return true;
  int32_t others = 0;  // whose exponents have all bits set
  for (size_t i = 0; i < n; ++i) {
    int32_t bits;
    std::memcpy(&bits, x + i, sizeof(bits));
    others |= (bits & 0x7fffffff) >= 0x7f800000 ? 1 : 0;
  }
  if (others != 0) return false;
  float low = x[0], high = x[0];
  BestCpuKernels().integer->min_max(x, static_cast<int64_t>(n), &low, &high);
  if (options_.percentile == 100.0) {
    *out = {low, high};
    return true;
  }
  sorted_.assign(x, x + n);
  const size_t rank =
      static_cast<size_t>(std::llround(static_cast<double>(n - 1) * options_.percentile / 100.0));
  const auto at = [this](size_t i) {
    const auto place = sorted_.begin() + static_cast<ptrdiff_t>(i);
    std::nth_element(sorted_.begin(), place, sorted_.end());
    return *place;
  };
  *out = {at(n - 1 - rank), at(rank)};
  return true;
}

// Moves the mean of each channel by what one example more has.
void Quantizer::AddMeans(const TensorView& view, size_t value) {
  std::vector<float>& means = spec_.means[value];
  const size_t n = static_cast<size_t>(view.shape.NumElements()), n_channels = means.size();
  if (n_channels == 0 || n == 0 || n % n_channels != 0) return;
  sorted_.resize(n_channels);
  float* sum = sorted_.data();
  std::fill_n(sum, n_channels, 0.0f);
  for (const float *x = view.as<float>(), *end = x + n; x != end; x += n_channels) {
    for (size_t c = 0; c < n_channels; ++c) sum[c] += x[c];
  }
  const float n_rows = static_cast<float>(n / n_channels);
  for (size_t c = 0; c < n_channels; ++c) {
    means[c] += (sum[c] / n_rows - means[c]) / static_cast<float>(n_examples_);
  }
}

Status Quantizer::Observe() {
  std::vector<std::pair<int, ValueRange>> seen;
  const auto look = [&](const TensorView& view, int v, const std::string& name) {
    if (view.dtype != DType::kFloat32) return Status::Ok();
    ValueRange range;
    if (!RangeOf(view, &range)) {
      return NumericError("'{}' holds NaN or infinity for example {}", name, n_examples_);
    }
    if (!range.known()) return Status::Ok();
    // Wider by less than a step of 1/256.
    seen.emplace_back(v, ValueRange{Rounded(range.min, floorf), Rounded(range.max, ceilf)});
    return Status::Ok();
  };
  const std::vector<int>& inputs = model_->main().inputs;
  for (int i = 0; i < session_->n_inputs(); ++i) {
    TW_RETURN_IF_ERROR(
        look(session_->input(i), inputs[static_cast<size_t>(i)], session_->input_name(i)));
  }
  for (size_t i = 0; i < watched_.size(); ++i) {
    const int k = static_cast<int>(i);
    TW_RETURN_IF_ERROR(look(session_->output(k), watched_[i], session_->output_name(k)));
  }
  for (const auto& one : seen) Widen(one.second, &spec_.ranges[static_cast<size_t>(one.first)]);
  ++n_examples_;
  for (int i = 0; i < session_->n_inputs(); ++i) {
    AddMeans(session_->input(i), static_cast<size_t>(inputs[static_cast<size_t>(i)]));
  }
  for (size_t i = 0; i < watched_.size(); ++i) {
    AddMeans(session_->output(static_cast<int>(i)), static_cast<size_t>(watched_[i]));
  }
  return Status::Ok();
}

Status Quantizer::AddExamples(const Examples& examples, const FeatureProgress& progress) {
  if (options_.target != QuantizeTarget::kInt8) {
    return FailedPrecondition("only the target int8 takes examples");
  }
  std::vector<void*> inputs;
  for (int i = 0; i < session_->n_inputs(); ++i) {
    if (session_->input(i).dtype == DType::kString) {
      return Unsupported("input {} '{}' holds strings; examples for calibration are numbers", i,
                         session_->input_name(i));
    }
    inputs.push_back(session_->input(i).data);
  }
  const Cancellation::Call call(&cancellation_);
  for (int64_t i = 0; i < examples.count; ++i) {
    ExampleTarget target;
    TW_RETURN_IF_ERROR(examples.read(i, Span<void* const>(inputs.data(), inputs.size()), &target));
    if (cancellation_.requested()) return Cancelled("calibration was cancelled");
    TW_RETURN_IF_ERROR(session_->Run());
    TW_RETURN_IF_ERROR(Observe());
    if (progress && !progress(i + 1, examples.count)) return Cancelled("calibration was cancelled");
  }
  return Status::Ok();
}

Result<std::vector<uint8_t>> Quantizer::Export() {
  if (options_.target == QuantizeTarget::kInt8 && n_examples_ == 0) {
    return FailedPrecondition(
        "the target int8 needs the ranges of the activations: add examples before");
  }
  for (std::vector<float>& means : spec_.means) {
    for (float& mean : means) mean = Rounded(mean, roundf);
  }
  return QuantizeModel(*model_, spec_, &report_);
}

Status Quantizer::ExportFile(const std::string& path) {
  TW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, Export());
  return WriteFile(path, "the model", {bytes});
}

}  // namespace topwork

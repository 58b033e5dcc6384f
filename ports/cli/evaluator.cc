// Evaluator: eight examples a run where the model takes a batch, else as many as it was made for.
#include "ports/cli/evaluator.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ports/cli/data/numbers.h"
#include "ports/cli/rejection.h"
#include "ports/cli/stop.h"
#include "ports/cli/table.h"
#include "ports/cli/terminal.h"

namespace topwork {
namespace cli {
namespace {

constexpr int32_t kBatch = 8;

int64_t LastDim(const tw_tensor_info& info) {
  return info.rank >= 1 ? info.dims[info.rank - 1] : 0;
}

// The name of the tensor that a signature of the main subgraph calls `name`; `name` itself when there
// is none.
std::string TensorOf(const std::string& name, const tw::Model& model) {
  const tw::Result<size_t> index = model.FindOutput(name);
  return index.ok() ? CheckValue(model.Output(*index)).name : name;
}

}  // namespace

Evaluator::Evaluator(const CommonOptions& options, const std::string& output_name,
                     const tw::Model& model)
    : options_(options), session_(OpenSession(model, options)) {
  if (session_.n_inputs() != 1) {
    throw CliError(kExitUnsupported, options.model + ": has " +
                                         std::to_string(session_.n_inputs()) +
                                         " inputs; evaluate needs a model of one input");
  }
  const tw::Tensor first = input();
  batch_ = first.rank > 0 ? std::max(1, first.dims[0]) : 1;
  // A single dimension may count the samples of a sound.
  if (first.rank == 1 && CountRowOutputs() == 0) batch_ = 1;
  output_ = ChooseOutput(output_name, model);
  for (size_t i = 0; i < session_.n_outputs(); ++i) {
    refuses_ = refuses_ || CheckValue(session_.Output(i)).name == std::string(kRejectionOutput);
  }
  n_outputs_ = LastDim(output());
}

size_t Evaluator::ChooseOutput(const std::string& name, const tw::Model& model) const {
  const std::string tensor = name.empty() ? "" : TensorOf(name, model);
  std::vector<size_t> found;
  for (size_t i = 0; i < session_.n_outputs(); ++i) {
    const tw::Tensor output = CheckValue(session_.Output(i));
    const bool fits = name.empty()
                          ? HoldsRows(output) && output.name != std::string(kRejectionOutput)
                          : output.name == tensor || ShortName(output.name) == name;
    if (fits) found.push_back(i);
  }
  if (found.size() == 1 && HoldsRows(CheckValue(session_.Output(found[0])))) return found[0];
  if (found.empty() && !name.empty()) {
    throw CliError(kExitData,
                   options_.model + ": has no output '" + name + "'; it has " + ListOutputs());
  }
  std::string why = "no output is a row of numbers for each example: " + ListOutputs();
  if (found.size() == 1) {
    why = "its output '" + name + "' is " + TensorText(CheckValue(session_.Output(found[0]))) +
          ", not a row of numbers for each example";
  } else if (found.size() > 1) {
    why = "has several outputs; choose one by --output-name: " + ListOutputs();
  }
  throw CliError(kExitUnsupported, options_.model + ": " + why);
}

std::string Evaluator::ListOutputs() const {
  std::string text;
  for (size_t i = 0; i < session_.n_outputs(); ++i) {
    const tw::Tensor output = CheckValue(session_.Output(i));
    text += (i > 0 ? ", '" : "'") + ShortName(output.name) + "' " + TensorText(output);
  }
  return text;
}

size_t Evaluator::CountRowOutputs() const {
  size_t n = 0;
  for (size_t i = 0; i < session_.n_outputs(); ++i) {
    n += HoldsRows(CheckValue(session_.Output(i)));
  }
  return n;
}

bool Evaluator::HoldsRows(const tw::Tensor& output) const {
  int64_t n = 1;
  for (int32_t i = 0; i < output.rank; ++i) n *= output.dims[i];
  return (IsFloat(output.dtype) || IsInteger(output.dtype)) && n > 0 && output.rank > 0 &&
         n == batch_ * LastDim(output);
}

void Evaluator::ChooseBatch() {
  std::vector<int32_t> dims = input().shape();
  if (dims.empty() || dims[0] != 1) return;
  dims[0] = kBatch;
  batch_ = kBatch;
  if (session_.ResizeInput(0, dims).ok() && session_.Prepare().ok() && HoldsRows(output()) &&
      LastDim(output()) == n_outputs_) {
    return;
  }
  dims[0] = 1;
  batch_ = 1;
  Check(session_.ResizeInput(0, dims));
  Check(session_.Prepare());
}

void Evaluator::RunBatch(const Dataset& data, int64_t first, int64_t n) {
  const tw::Tensor input = CheckValue(session_.Input(0));
  const size_t example_bytes = input.bytes / static_cast<size_t>(batch_);
  for (int64_t i = 0; i < n; ++i) {
    const std::vector<uint8_t> bytes = data.Read(first + i);
    std::memcpy(static_cast<uint8_t*>(input.data) + static_cast<size_t>(i) * example_bytes,
                bytes.data(), std::min(bytes.size(), example_bytes));
  }
  // Examples are judged one by one: none sees the state that another left behind.
  Check(session_.ResetState(), options_.model);
  Check(session_.Run(), options_.model);
}

void Evaluator::Run(const Dataset& data, const Take& take) {
  const CancelOnStop cancel([this] { (void)session_.Cancel(); });
  ChooseBatch();
  Progress progress("evaluate", data.has_images() ? "images" : "examples",
                    ShowProgress(options_.json));
  std::vector<double> numbers(static_cast<size_t>(n_outputs_));
  rejections_.clear();
  for (int64_t first = 0; first < data.size(); first += batch_) {
    const int64_t n = std::min<int64_t>(batch_, data.size() - first);
    CheckStop();
    RunBatch(data, first, n);
    const tw::Tensor result = output();
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t k = 0; k < n_outputs_; ++k) {
        const double value = RealAt(result, i * n_outputs_ + k);
        if (std::isnan(value) || (std::isinf(value) && value > 0.0)) {
          throw CliError(kExitNumeric, data.Name(first + i) + ": output '" + result.name +
                                           "' has " + (std::isnan(value) ? "NaN" : "infinity") +
                                           " at position " + std::to_string(k));
        }
        numbers[static_cast<size_t>(k)] = value;
      }
      if (refuses_) rejections_.push_back(CheckValue(session_.Rejection(static_cast<size_t>(i))));
      take(first + i, numbers);
    }
    progress.Update(first + n, data.size());
  }
  progress.Finish();
}

}  // namespace cli
}  // namespace topwork

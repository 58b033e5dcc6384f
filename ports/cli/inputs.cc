// Filling inputs: arrays, images, texts, or random values from a portable generator.
#include "ports/cli/inputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "ports/cli/data/npy.h"
#include "ports/cli/data/numbers.h"
#include "ports/cli/files.h"
#include "ports/cli/shapes.h"
#include "ports/cli/terminal.h"

namespace topwork {
namespace cli {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014): the same values on every platform.
uint64_t NextRandom(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

void CheckNpy(const std::string& file, size_t i, tw::Session* session) {
  const Array array = ReadNpy(file);
  tw::Tensor tensor = CheckValue(session->Input(i));
  if (!CanConvert(array.dtype, tensor)) {
    throw CliError(kExitData, file + ": is " + tw_dtype_name(array.dtype) + ", input " +
                                  std::to_string(i) + " '" + tensor.name + "' is " +
                                  tw_dtype_name(tensor.dtype) +
                                  "; convert it with NumPy, with the values that the model wants");
  }
  const std::vector<int32_t> dims(array.shape.begin(), array.shape.end());
  if (dims != tensor.shape()) Check(session->ResizeInput(i, dims), file);
}

// Between 0 and 1.
double NextUnit(uint64_t* state) { return static_cast<double>(NextRandom(state) >> 11) * 0x1p-53; }

// Fills elements of type T from low to high.
template <typename T>
void FillNumbers(uint64_t* state, double low, double high, const tw::Tensor& tensor) {
  T* const values = static_cast<T*>(tensor.data);
  for (size_t i = 0; i < tensor.bytes / sizeof(T); ++i) {
    if constexpr (std::is_integral_v<T>) {
      const double lowest = std::max(low, static_cast<double>(std::numeric_limits<T>::lowest()));
      // The largest int64 is no double.
      const double most =
          sizeof(T) == 8 ? 0x1p62 : static_cast<double>(std::numeric_limits<T>::max());
      const double value =
          std::floor(lowest + NextUnit(state) * (std::min(high, most) - lowest + 1));
      values[i] = static_cast<T>(std::min(value, std::min(high, most)));
    } else {
      values[i] = static_cast<T>(low + NextUnit(state) * (high - low));
    }
  }
}

bool IsTextPath(const std::string& path) {
  return path.size() > 4 && path.compare(path.size() - 4, 4, ".txt") == 0;
}

// One string a line; the last line may lack its end.
std::vector<std::string> ReadStrings(const std::string& file) {
  std::vector<std::string> strings(1);
  for (uint8_t byte : ReadWholeFile(file)) {
    if (byte == '\n') {
      strings.emplace_back();
    } else {
      strings.back() += static_cast<char>(byte);
    }
  }
  if (strings.back().empty()) strings.pop_back();
  return strings;
}

// As many lines as the input has elements, or any number for a list.
void CheckText(const std::string& file, size_t i, tw::Session* session) {
  const tw::Tensor tensor = CheckValue(session->Input(i));
  const size_t n = ReadStrings(file).size();
  if (tensor.dtype == TW_DTYPE_STRING && n == tensor.size<tw_string>()) return;
  if (tensor.dtype == TW_DTYPE_STRING && tensor.rank == 1) {
    Check(session->ResizeInput(i, {static_cast<int32_t>(n)}), file);
    return;
  }
  throw CliError(kExitData, file + ": has " + std::to_string(n) + " lines, input " +
                                std::to_string(i) + " '" + tensor.name + "' is " +
                                TensorText(tensor));
}

void FillFromImage(const CommonOptions& options, const tw::Model& model, const std::string& file,
                   const tw::Tensor& tensor, std::vector<uint8_t>* bytes) {
  if (!IsImageTensor(tensor)) {
    throw CliError(kExitData, file + ": is an image, but input '" + tensor.name + "' is " +
                                  TensorText(tensor) + "; give a .npy file");
  }
  *bytes = LoadImageForTensor(file, ReadingFor(options, model, tensor).pixels, tensor);
}

}  // namespace

void FillRandomTensor(uint64_t* state, const tw::Tensor& tensor) {
  uint8_t* bytes = static_cast<uint8_t*>(tensor.data);
  const auto fill = [&](auto make) {
    using T = decltype(make());
    for (size_t i = 0; i < tensor.bytes / sizeof(T); ++i) {
      const T value = make();
      std::memcpy(bytes + i * sizeof(T), &value, sizeof(T));
    }
  };
  const auto unit = [&] { return NextUnit(state); };
  switch (tensor.dtype) {
    case TW_DTYPE_FLOAT32:
      fill([&] { return static_cast<float>(2.0 * unit() - 1.0); });
      break;
    case TW_DTYPE_FLOAT64:
      fill([&] { return 2.0 * unit() - 1.0; });
      break;
    case TW_DTYPE_INT32:
      fill([&] { return static_cast<int32_t>(NextRandom(state) % 2); });
      break;
    case TW_DTYPE_INT64:
      fill([&] { return static_cast<int64_t>(NextRandom(state) % 2); });
      break;
    case TW_DTYPE_BOOL:
      fill([&] { return static_cast<uint8_t>(NextRandom(state) % 2); });
      break;
    case TW_DTYPE_INT8:
    case TW_DTYPE_UINT8:
    case TW_DTYPE_INT2:
    case TW_DTYPE_INT4:
    case TW_DTYPE_UINT4:
      fill([&] { return static_cast<uint8_t>(NextRandom(state)); });
      break;
    case TW_DTYPE_INT16:
    case TW_DTYPE_UINT16:
      fill([&] { return static_cast<uint16_t>(NextRandom(state)); });
      break;
    case TW_DTYPE_FLOAT16:  // in [1, 2) or (-2, -1]: sign and fraction
      fill([&] { return static_cast<uint16_t>((NextRandom(state) & 0x83ff) | 0x3c00); });
      break;
    default:
      std::memset(bytes, 0, tensor.bytes);
  }
}

void FillRange(uint64_t* state, double low, double high, const tw::Tensor& tensor) {
  switch (tensor.dtype) {
    case TW_DTYPE_FLOAT32:
      return FillNumbers<float>(state, low, high, tensor);
    case TW_DTYPE_INT8:
      return FillNumbers<int8_t>(state, low, high, tensor);
    case TW_DTYPE_UINT8:
      return FillNumbers<uint8_t>(state, low, high, tensor);
    case TW_DTYPE_INT16:
      return FillNumbers<int16_t>(state, low, high, tensor);
    case TW_DTYPE_INT32:
      return FillNumbers<int32_t>(state, low, high, tensor);
    case TW_DTYPE_INT64:
      return FillNumbers<int64_t>(state, low, high, tensor);
    default:
      throw CliError(kExitData, std::string("--input-range: input '") + tensor.name + "' is " +
                                    tw_dtype_name(tensor.dtype) + ", which takes no range");
  }
}

void FillRandom(uint64_t seed, tw::Session* session) {
  uint64_t state = seed;
  for (size_t i = 0; i < session->n_inputs(); ++i) {
    const tw::Tensor tensor = CheckValue(session->Input(i));
    if (tensor.data != nullptr && tensor.dtype != TW_DTYPE_STRING) FillRandomTensor(&state, tensor);
  }
}

namespace {

void CheckCount(const CommonOptions& options, size_t n_inputs, size_t n_files) {
  if (n_files == n_inputs) return;
  throw CliError(kExitUsage, options.model + ": has " +
                                 CountText(static_cast<int64_t>(n_inputs), "input") + ", " +
                                 CountText(static_cast<int64_t>(n_files), "--input file") +
                                 (n_files == 1 ? " was given" : " were given"));
}

// An array has a shape of its own, which --input-shape must not contradict.
void CheckGivenShapes(const tw::Model& model, const CommonOptions& options,
                      const std::vector<std::string>& files) {
  const std::vector<tw_shape> shapes = InputShapes(model, options);
  for (size_t i = 0; i < std::min(shapes.size(), files.size()); ++i) {
    if (shapes[i].rank < 0 || IsTextPath(files[i]) || IsImagePath(files[i])) continue;
    const std::vector<int64_t> dims = ReadNpy(files[i]).shape;
    const std::vector<int64_t> given(shapes[i].dims, shapes[i].dims + shapes[i].rank);
    if (dims == given) continue;
    std::string text;
    for (const int64_t dim : dims) text += (text.empty() ? "" : ", ") + std::to_string(dim);
    throw CliError(kExitData, files[i] + ": is [" + text +
                                  "], which is not the shape of --input-shape; leave that out, as "
                                  "an array tells its own");
  }
}

}  // namespace

tw::Session OpenSessionFor(const tw::Model& model, const CommonOptions& options,
                           const std::vector<std::string>& files) {
  CheckGivenShapes(model, options, files);
  tw::Result<tw::Session> session = TrySession(model, options);
  if (session.ok()) return std::move(session).value();
  std::vector<tw_shape> shapes = InputShapes(model, options);
  const size_t n_inputs = PlannedInputs(model, options).size();
  if (!files.empty() && n_inputs > 0) CheckCount(options, n_inputs, files.size());
  shapes.resize(std::max(shapes.size(), files.size()), tw_shape{-1, {}});
  for (size_t i = 0; i < files.size(); ++i) {
    if (IsTextPath(files[i]) || IsImagePath(files[i])) continue;
    const std::vector<int64_t> dims = ReadNpy(files[i]).shape;
    if (dims.size() > 8) continue;
    shapes[i].rank = static_cast<int32_t>(dims.size());
    std::copy(dims.begin(), dims.end(), shapes[i].dims);
  }
  const bool any = std::any_of(shapes.begin(), shapes.end(),
                               [](const tw_shape& shape) { return shape.rank >= 0; });
  if (!any) CheckSession(session.status(), options);
  return OpenSession(model, options, shapes);
}

void FillInputs(const CommonOptions& options, const tw::Model& model,
                const std::vector<std::string>& files, uint64_t seed, tw::Session* session) {
  if (files.empty()) {
    FillRandom(seed, session);
    return;
  }
  CheckCount(options, session->n_inputs(), files.size());
  // Shapes first: a resize moves all inputs' memory.
  for (size_t i = 0; i < files.size(); ++i) {
    if (IsTextPath(files[i])) {
      CheckText(files[i], i, session);
    } else if (!IsImagePath(files[i])) {
      CheckNpy(files[i], i, session);
    }
  }
  Check(session->Prepare(), options.model + ": --input files");
  for (size_t i = 0; i < files.size(); ++i) {
    if (IsTextPath(files[i])) {
      Check(session->WriteStrings(i, ReadStrings(files[i])), files[i]);
      continue;
    }
    const tw::Tensor tensor = CheckValue(session->Input(i));
    std::vector<uint8_t> bytes;
    if (IsImagePath(files[i])) {
      FillFromImage(options, model, files[i], tensor, &bytes);
    } else {
      const Array array = ReadNpy(files[i]);
      bytes = array.dtype == tensor.dtype
                  ? array.bytes
                  : Convert(array.dtype, array.bytes.data(), array.n_elements(), tensor, files[i]);
    }
    Check(session->WriteInput(i, bytes.data(), bytes.size()), files[i]);
  }
}

}  // namespace cli
}  // namespace topwork

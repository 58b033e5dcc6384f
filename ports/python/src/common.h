// What the files of the Python module share: how a failure becomes an exception, how long calls give way to Ctrl-C, and
// how element types are named. Everything goes through the C API; the module holds no knowledge of models of its own.
#ifndef TOPWORK_PORTS_PYTHON_COMMON_H_
#define TOPWORK_PORTS_PYTHON_COMMON_H_

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "topwork/topwork.h"

namespace topwork_python {

namespace nb = nanobind;

// Any C-contiguous array in the processor's memory: NumPy's, or one that speaks DLPack.
using Array = nb::ndarray<nb::c_contig, nb::device::cpu>;
using ConstArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

// Raises the class of topwork.errors that belongs to the status, with the library's sentence.
[[noreturn]] void Raise(tw_status status, const std::string& text);
void Check(tw_status status);

// Calls `work` on a thread of its own, without the interpreter's lock, while this thread looks for signals: a handler
// that raises (Ctrl-C) makes `cancel` be called until the work has ended, and its exception is the result.
void RunInterruptibly(const std::function<tw_status()>& work, const std::function<void()>& cancel);

// "float32" <-> TW_DTYPE_FLOAT32.
tw_dtype DtypeOf(const std::string& name);

// A tensor of a model, session or trainer; see topwork.TensorInfo.
struct TensorInfo {
  std::string name;
  std::string dtype;
  std::vector<int> shape;
  std::vector<int> open_shape;
  size_t nbytes = 0;
  std::vector<float> scales;
  std::vector<int64_t> zero_points;
  int quantized_axis = 0;
};
TensorInfo CopyOf(const tw_tensor_info& info);
TensorInfo ReadInfo(const std::function<tw_status(tw_tensor_info*)>& read);

std::string StringOf(const char* text);

// Shared with what is made of the model, as it may have borrowed the bytes that it lies in. A struct that has one declares
// it before what it made, which then is freed first.
using ModelHandle = std::shared_ptr<tw_model>;
struct PyModel {
  explicit PyModel(tw_model* model) : model(model, tw_model_free) {}
  explicit PyModel(ModelHandle handle) : model(std::move(handle)) {}
  ModelHandle model;
};

void BindModel(nb::module_& m);
void BindSession(nb::module_& m);
void BindTrainer(nb::module_& m);
void BindLearner(nb::module_& m);
void BindQuantizer(nb::module_& m);

}  // namespace topwork_python

#endif  // TOPWORK_PORTS_PYTHON_COMMON_H_

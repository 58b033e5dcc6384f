// One operator on hand-made tensors.
#include "tests/support/one_op.h"

#include <catch2/catch.hpp>
#include <utility>

#include "kernels/contract/custom_ops.h"

namespace topwork {
namespace test {
namespace {

std::string Unlike(const Status& status, StatusCode code, const char* text) {
  if (status.ok()) return "accepted";
  if (status.code() != code || status.message().find(text) == std::string::npos) {
    return status.ToString();
  }
  return "";
}

void CheckRows(std::initializer_list<RefusalRow> rows,
               std::string (*refusal)(OneOp& op, StatusCode code, const char* text)) {
  size_t n = 0;
  for (RefusalRow row : rows) {
    INFO("row " << n++ << ": \"" << row.text << "\"");
    CHECK(refusal(row.op, row.code, row.text) == "");
  }
}

}  // namespace

OneOp::OneOp(OpCode code) : code_(code) {}
OneOp::~OneOp() = default;
OneOp::OneOp(OneOp&&) noexcept = default;

OneOp::OneOp(const OneOp& other)
    : params(other.params),
      half_products(other.half_products),
      code_(other.code_),
      inputs_(Copies(other.inputs_)),
      outputs_(Copies(other.outputs_)),
      next_input_(other.next_input_) {
  op_.variable_inputs = other.op_.variable_inputs;
  op_.intermediates = other.op_.intermediates;
  const Tensors& last = outputs_.empty() ? inputs_ : outputs_;
  if (!last.empty()) last_ = last.back().get();
}

OneOp::Tensors OneOp::Copies(const Tensors& tensors) {
  Tensors copies;
  for (const auto& tensor : tensors) {
    copies.push_back(std::make_unique<Tensor>());
    Tensor& copy = *copies.back();
    copy.present = tensor->present;
    copy.view = tensor->view;
    if (tensor->data != nullptr) {
      copy.data_bytes = tensor->data_bytes;
      copy.data.reset(new uint8_t[copy.data_bytes]);
      if (copy.data_bytes > 0) std::memcpy(copy.data.get(), tensor->data.get(), copy.data_bytes);
      copy.view.data = copy.data.get();
    }
    copy.scales = tensor->scales;
    copy.zero_points = tensor->zero_points;
    copy.quantization = tensor->quantization;
    copy.quantization.scales = copy.scales;
    copy.quantization.zero_points = copy.zero_points;
    if (tensor->view.quantization != nullptr) copy.view.quantization = &copy.quantization;
  }
  return copies;
}

OneOp::Tensor* OneOp::NewTensor(Tensors* tensors, size_t index) {
  REQUIRE(index <= tensors->size());
  if (index == tensors->size()) tensors->emplace_back();
  (*tensors)[index] = std::make_unique<Tensor>();
  return (*tensors)[index].get();
}

OneOp& OneOp::AddInput(DType dtype, const Shape& shape, const void* data, size_t bytes) {
  Unknown(dtype, shape);
  last_->data_bytes = bytes;
  last_->data.reset(new uint8_t[bytes]);  // never null, even where there is nothing in it
  if (bytes > 0) std::memcpy(last_->data.get(), data, bytes);
  last_->view.data = last_->data.get();
  return *this;
}

OneOp& OneOp::Unknown(DType dtype, const Shape& shape) {
  last_ = NewTensor(&inputs_, next_input_ < 0 ? inputs_.size() : Index(next_input_));
  next_input_ = -1;
  last_->view.dtype = dtype;
  last_->view.shape = shape;
  return *this;
}

OneOp& OneOp::Variable(DType dtype, const Shape& shape) {
  const std::vector<uint8_t> zeros(ByteSize(dtype, shape), 0);
  op_.variable_inputs |= uint64_t{1} << (next_input_ < 0 ? inputs_.size() : Index(next_input_));
  return AddInput(dtype, shape, zeros.data(), zeros.size());
}

OneOp& OneOp::Hidden(float scale, int64_t zero_point) {
  struct Owned {
    Quantization view;
    float scale;
    int64_t zero_point;
  };
  auto owned = std::make_shared<Owned>();
  owned->scale = scale;
  owned->zero_point = zero_point;
  owned->view.scales = {&owned->scale, 1};
  owned->view.zero_points = {&owned->zero_point, 1};
  op_.intermediates.emplace_back(owned, &owned->view);
  return *this;
}

OneOp& OneOp::Missing() {
  Unknown(DType::kFloat32, Shape());
  last_->present = false;
  return *this;
}

OneOp& OneOp::Out(DType dtype) { return Out(static_cast<int>(outputs_.size()), dtype); }

OneOp& OneOp::Out(int i, DType dtype) {
  last_ = NewTensor(&outputs_, Index(i));
  last_->view.dtype = dtype;
  return *this;
}

OneOp& OneOp::At(int i) {
  next_input_ = i;
  return *this;
}

OneOp OneOp::First(int n) const {
  OneOp copy = *this;
  REQUIRE(Index(n) <= copy.inputs_.size());
  copy.inputs_.resize(Index(n));
  return copy;
}

OneOp& OneOp::Quantized(const std::vector<float>& scales, const std::vector<int64_t>& zero_points) {
  last_->scales = scales;
  last_->zero_points = zero_points;
  last_->quantization.scales = last_->scales;
  last_->quantization.zero_points = last_->zero_points;
  last_->view.quantization = &last_->quantization;
  return *this;
}

OneOp& OneOp::ScaleAxis(int axis) {
  last_->quantization.axis = axis;
  return *this;
}

Status OneOp::Prepare() {
  const OpDef* def = code_ == OpCode::kCustom ? FindCustomOp(params.custom_name) : FindOp(code_);
  if (def == nullptr) return NotFound("no operator {}", OpCodeName(code_));
  op_.code = code_;
  op_.def = def;
  op_.params = params;
  std::vector<const TensorView*> inputs;
  std::vector<const std::string*> names;
  for (const auto& input : inputs_) {
    inputs.push_back(input->present ? &input->view : nullptr);
    names.push_back(&name_);
  }
  std::vector<TensorView> outputs;
  for (const auto& output : outputs_) outputs.push_back(output->view);
  context_ = std::make_unique<PlanPrepareContext>(
      op_, inputs, outputs, names, StrFormat("operator #0 {}", def->name()), BestCpuKernels(), 4);
  context_->SetPacking(PackMode::kPack, nullptr, {}, DefaultAllocator());
  context_->SetHalfProducts(half_products);
  return context_->Prepare(*def);
}

Status OneOp::Run(int n_threads) {
  TW_RETURN_IF_ERROR(Prepare());
  ThreadPool pool(n_threads);
  std::vector<TensorView> outputs = context_->outputs();
  std::vector<TensorView*> output_pointers;
  std::vector<std::unique_ptr<uint8_t[]>> blocks;
  for (TensorView& output : outputs) {
    blocks.emplace_back(new uint8_t[output.bytes()]);
    std::memset(blocks.back().get(), 0xCD, output.bytes());  // nothing is zero by chance
    output.data = blocks.back().get();
    output_pointers.push_back(&output);
  }
  std::vector<const TensorView*> inputs;
  for (const auto& input : inputs_) inputs.push_back(input->present ? &input->view : nullptr);
  std::vector<uint8_t> scratch(context_->scratch_bytes() + kAlignment);
  RunContext run;
  run.params = &op_.params;
  run.inputs = {inputs.data(), inputs.size()};
  run.outputs = {output_pointers.data(), output_pointers.size()};
  run.state = context_->state().get();
  run.scratch =
      reinterpret_cast<uint8_t*>(AlignUp(reinterpret_cast<uintptr_t>(scratch.data()), kAlignment));
  run.pool = &pool;
  run.cpu = &BestCpuKernels();
  TW_RETURN_IF_ERROR(op_.def->run_cpu(run));
  results_.clear();
  for (const TensorView& output : outputs) {
    const uint8_t* data = output.as<uint8_t>();
    results_.emplace_back(data, data + output.bytes());
  }
  return Status::Ok();
}

bool OneOp::has_all_values() const {
  for (const auto& input : inputs_) {
    const bool empty = input->view.shape.NumElements() == 0;
    if (input->present && input->view.data == nullptr && !empty) return false;
  }
  return true;
}

std::string Refusal(OneOp& op, StatusCode code, const char* text) {
  const Status status = op.Prepare();
  // Every message of prepare begins with the operator that it is about.
  if (!status.ok() && status.message().rfind("operator #0 ", 0) != 0) return status.ToString();
  return Unlike(status, code, text);
}

std::string RunRefusal(OneOp& op, StatusCode code, const char* text) {
  const Status prepared = op.Prepare();
  if (!prepared.ok()) return "prepare: " + prepared.ToString();
  return Unlike(op.Run(), code, text);
}

void CheckRefusals(std::initializer_list<RefusalRow> rows) { CheckRows(rows, Refusal); }
void CheckRunRefusals(std::initializer_list<RefusalRow> rows) { CheckRows(rows, RunRefusal); }

int DeferredFor(OneOp op) {
  const Status status = op.Prepare();
  return status.code() == StatusCode::kFailedPrecondition ? op.unknown_value_input() : -1;
}

OneOp Accepted(OneOp op) {
  REQUIRE(op.Prepare().ToString() == "OK");
  return op;
}

}  // namespace test
}  // namespace topwork

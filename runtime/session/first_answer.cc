// FirstAnswer: a second session, and a file that remembers.
#include "runtime/session/first_answer.h"

#include <cstring>
#include <utility>

#include "runtime/base/log.h"
#include "runtime/plan/kept_numbers.h"
#include "runtime/session/verify.h"

namespace topwork {
namespace {

Status Wrong(const FirstAnswerRecord& record, double difference) {
  std::string text = StrFormat(
      "the first answer of {} was wrong, by {:.3g} of the CPU's range: the CPU computes this model",
      record.device, difference);
  if (!record.folder.empty()) {
    text += "; remove " + NumbersPath(record.folder, record.key) + " to try the device again";
  }
  return Status(StatusCode::kDeviceLost, text);
}

}  // namespace

Status FirstAnswerRecord::Known() const {
  double difference = 0.0;
  const bool is_known = LoadNumbers(folder, key, {&difference, 1});
  return is_known ? Wrong(*this, difference) : Status::Ok();
}

Status FirstAnswerRecord::Keep(double difference) const {
  // Files keep finite numbers.
  const double kept = difference < 1e30 ? difference : 1e30;
  if (!folder.empty()) (void)KeepNumbers(folder, key, {&kept, 1});
  return Wrong(*this, kept);
}

FirstAnswer::~FirstAnswer() {
  work_.Stop([this] {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
    if (running_ != nullptr) running_->Cancel();
  });
}

bool FirstAnswer::CanCheck(const Session& session) {
  if (session.plan().keeps_state || session.has_custom_ops()) return false;
  for (int i = 0; i < session.n_inputs(); ++i) {
    if (session.input(i).dtype == DType::kString) return false;
  }
  return true;
}

std::vector<FirstAnswer::Tensor> FirstAnswer::CopyOf(const Session& session, bool outputs) {
  std::vector<Tensor> tensors(
      static_cast<size_t>(outputs ? session.n_outputs() : session.n_inputs()));
  for (size_t i = 0; i < tensors.size(); ++i) {
    const int k = static_cast<int>(i);
    const TensorView& view = outputs ? session.output(k) : session.input(k);
    Tensor& copy = tensors[i];
    copy.view = view;
    if (view.dtype == DType::kString || view.data == nullptr) continue;
    copy.bytes.assign(view.as<const uint8_t>(), view.as<const uint8_t>() + view.bytes());
  }
  return tensors;
}

void FirstAnswer::Check(const Session& session) {
  if (started_) return;
  started_ = true;
  model_ = session.shared_model();
  tolerance_ = DefaultTolerance(session.options());
  inputs_ = CopyOf(session, false);
  outputs_ = CopyOf(session, true);
  options_ = session.options();
  options_.devices.clear();
  options_.half_products = false;
  options_.state = nullptr;
  options_.allocator = nullptr;  // the caller's may serve one thread only
  options_.device_cost = nullptr;
  options_.n_threads = 1;
  options_.input_shapes.clear();
  for (const Tensor& input : inputs_) options_.input_shapes.push_back(input.view.shape);
  (void)work_.Start([this] { return Compute(); }, nullptr);
}

Status FirstAnswer::Compute() {
  const Result<std::unique_ptr<Session>> made = Session::Create(model_, options_);
  Status status = made.status();
  if (made.ok()) {
    Session& cpu = *made.value();
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const std::vector<uint8_t>& bytes = inputs_[i].bytes;
      if (!bytes.empty())
        std::memcpy(cpu.input(static_cast<int>(i)).data, bytes.data(), bytes.size());
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (stopped_) return Status::Ok();
      running_ = &cpu;
      status = cpu.RunAsync(nullptr);  // begun here: a Cancel() from now on ends it
    }
    if (status.ok()) status = cpu.Wait();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      running_ = nullptr;
    }
    if (status.ok()) return Compare(cpu);
  }
  if (status.code() != StatusCode::kCancelled) {
    Log(LogLevel::kWarning, "the first answer of {} could not be checked: {}", record_.device,
        status.message());
  }
  return Status::Ok();
}

Status FirstAnswer::Compare(const Session& cpu) const {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const TensorView& expected = cpu.output(static_cast<int>(i));
    if (expected.dtype == DType::kString) continue;
    TensorView got = outputs_[i].view;
    got.data = const_cast<uint8_t*>(outputs_[i].bytes.data());
    ComparedValue value;
    CompareTensors(expected, got, tolerance_, &value);
    if (!value.agrees) return record_.Keep(value.difference);
  }
  return Status::Ok();
}

Status FirstAnswer::Verdict() { return is_known() ? work_.Wait() : Status::Ok(); }

}  // namespace topwork

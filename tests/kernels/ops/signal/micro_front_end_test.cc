// TFLite Micro's signal operators: its own answers, state over runs, refusals.
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "kernels/state/resources.h"
#include "tests/support/case_runner.h"
#include "tests/support/one_op.h"
#include "tests/support/run_op_cases.h"

namespace topwork {
namespace test {
namespace micro_front_end_test {

TEST_CASE("signal: golden cases of transforms", "[ops][sets]") { RunOpCases("signal_rfft"); }
TEST_CASE("signal: golden cases of filter banks", "[ops][sets]") {
  RunOpCases("signal_filter_bank");
}
TEST_CASE("signal: golden cases of frames", "[ops][sets]") { RunOpCases("signal_frames"); }
TEST_CASE("signal: golden cases of a whole front end", "[ops][sets]") {
  RunOpCases("micro_front_end");
}

TEST_CASE("signal: a reset session answers as a new one, and sessions share nothing", "[ops]") {
  for (const char* file : {"signal_frames", "micro_front_end", "signal_filter_bank"}) {
    const std::vector<OpCase> cases = CasesOf(file);
    CaseRunner runner(OneThreadOn(nullptr)), other(OneThreadOn(nullptr));
    const OpCase* first = nullptr;
    int n_continued = 0;
    for (const OpCase& op_case : cases) {
      INFO(op_case.name);
      if (!op_case.same_session) {
        first = &op_case;
        REQUIRE(runner.Run(op_case).ToString() == "OK");
        continue;
      }
      ++n_continued;
      REQUIRE(runner.Run(op_case).ToString() == "OK");
      CHECK(runner.Compare(op_case) == "");
      REQUIRE(other.Run(*first).ToString() == "OK");
      CHECK(other.Compare(*first) == "");
      runner.session().ResetState();
      REQUIRE(runner.Write(*first).ToString() == "OK");
      REQUIRE(runner.Run().ToString() == "OK");
      CHECK(runner.Compare(*first) == "");
      break;  // the runs after this one would have another past
    }
    CHECK(n_continued == 1);
  }
}

TEST_CASE("resources: memory of an operator is zeros until it is written", "[ops]") {
  Resources resources(DefaultAllocator());
  const auto memory = [&](const char* owner, size_t bytes) {
    Result<uint8_t*> result = resources.MemoryOf(owner, bytes);
    REQUIRE(result.status().ToString() == "OK");
    return result.value();
  };
  memory("a", 80)[79] = 7;
  CHECK(memory("a", 80)[79] == 7);
  CHECK(memory("b", 80)[79] == 0);
  CHECK(memory("a", 96)[79] == 0);
  memory("a", 96)[79] = 7;
  CHECK(resources.bytes() >= 176);
  resources.Clear();
  CHECK(memory("a", 96)[79] == 0);
  resources.set_limit_bytes(128);
  CHECK(resources.MemoryOf("c", 80).status().code() == StatusCode::kOutOfMemory);
}

void Append(std::vector<uint8_t>* bytes, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) {
    bytes->push_back(static_cast<uint8_t>(value >> shift));
  }
}

// A FlexBuffers map of whole numbers.
std::vector<uint8_t> FlexOf(const std::map<std::string, int32_t>& options) {
  std::vector<uint8_t> bytes;
  std::vector<size_t> keys;
  for (const auto& [key, value] : options) {
    keys.push_back(bytes.size());
    bytes.insert(bytes.end(), key.begin(), key.end());
    bytes.push_back(0);
  }
  const auto n = static_cast<uint32_t>(options.size());
  const auto refer = [&](size_t at) { Append(&bytes, static_cast<uint32_t>(bytes.size() - at)); };
  while (bytes.size() % 4 != 0) bytes.push_back(0);
  Append(&bytes, n);
  const size_t key_list = bytes.size();
  for (size_t key : keys) refer(key);
  refer(key_list);
  Append(&bytes, 4);  // the width of its elements
  Append(&bytes, n);
  const size_t map = bytes.size();
  for (const auto& option : options) Append(&bytes, static_cast<uint32_t>(option.second));
  bytes.insert(bytes.end(), n, 1 << 2 | 2);  // a number of 4 bytes
  while (bytes.size() % 4 != 0) bytes.push_back(0);
  refer(map);
  bytes.push_back(9 << 2 | 2);
  bytes.push_back(4);
  return bytes;
}

using Options = std::map<std::string, int32_t>;

// An operator of the library that keeps its options.
class SignalOp {
 public:
  SignalOp(const char* name, const Options& options) : name_(name), options_(options) {}
  // The operator with another value for one option.
  SignalOp With(const char* key, int32_t value) const {
    SignalOp other = *this;
    other.options_[key] = value;
    return other;
  }
  SignalOp Without(const char* key) const {
    SignalOp other = *this;
    other.options_.erase(key);
    return other;
  }
  SignalOp& In(DType dtype, const Shape& shape) {
    inputs_.push_back({dtype, shape});
    return *this;
  }
  SignalOp At(size_t i, DType dtype, const Shape& shape) const {
    SignalOp other = *this;
    other.inputs_[i] = {dtype, shape};
    return other;
  }
  SignalOp& Constant(const std::vector<int16_t>& values) {
    constants_.push_back(values);
    return *this;
  }
  SignalOp& Out(DType dtype) {
    outputs_.push_back(dtype);
    return *this;
  }

  // Empty where prepare accepts it.
  std::string Complaint() const {
    const std::vector<uint8_t> bytes = FlexOf(options_);
    OneOp op(OpCode::kCustom);
    op.params.custom_name = name_;
    op.params.custom_options = {bytes.data(), bytes.size()};
    for (const auto& [dtype, shape] : inputs_) op.Unknown(dtype, shape);
    for (const std::vector<int16_t>& values : constants_) {
      op.In<int16_t>({static_cast<int32_t>(values.size())}, values);
    }
    for (DType dtype : outputs_) op.Out(dtype);
    const Status status = op.Prepare();
    return status.ok() ? "" : status.ToString();
  }

 private:
  const char* name_;
  Options options_;
  std::vector<std::pair<DType, Shape>> inputs_;
  std::vector<std::vector<int16_t>> constants_;
  std::vector<DType> outputs_;
};

struct Refused {
  SignalOp op;
  const char* text;
};

void CheckComplaints(const SignalOp& accepted, const std::vector<Refused>& rows) {
  CHECK(accepted.Complaint() == "");
  for (const Refused& row : rows) {
    const std::string complaint = row.op.Complaint();
    INFO(row.text << " in " << complaint);
    CHECK(complaint.find(row.text) != std::string::npos);
    CHECK(complaint.find("Signal") != std::string::npos);
  }
}

TEST_CASE("signal: refusals of transforms and windows", "[ops]") {
  const SignalOp rfft =
      SignalOp("SignalRfft", {{"fft_length", 8}}).In(DType::kInt16, {2, 8}).Out(DType::kInt16);
  CheckComplaints(rfft, {{rfft.Without("fft_length"), "lack 'fft_length'"},
                         {rfft.With("fft_length", 0), "is 0"},
                         {rfft.With("fft_length", INT32_MAX), "is 2147483647"},
                         {rfft.With("fft_length", -8), "is -8"},
                         {rfft.With("fft_length", 9), "odd"},
                         {rfft.With("fft_length", 6), "fft_length of 6"},
                         {rfft.With("fft_length", 14), "prime factor"},
                         {rfft.At(0, DType::kInt16, {1}).With("fft_length", 2), "prime factor"},
                         {rfft.At(0, DType::kInt8, {8}), "int8"},
                         {rfft.At(0, DType::kInt16, Shape()), "rank"}});
  const SignalOp irfft =
      SignalOp("SignalIrfft", {{"fft_length", 8}}).In(DType::kFloat32, {10}).Out(DType::kFloat32);
  CheckComplaints(irfft, {{irfft.At(0, DType::kFloat32, {9}), "fft_length of 8"}});
  const SignalOp scale = SignalOp("SignalFftAutoScale", {})
                             .In(DType::kInt16, {8})
                             .Out(DType::kInt16)
                             .Out(DType::kInt32);
  CheckComplaints(scale, {{scale.At(0, DType::kInt16, {2, 4}), "rank"},
                          {scale.At(0, DType::kInt32, {8}), "int32"}});
  const SignalOp window = SignalOp("SignalWindow", {{"shift", 12}})
                              .In(DType::kInt16, {2, 8})
                              .In(DType::kInt16, {8})
                              .Out(DType::kInt16);
  CheckComplaints(window, {{window.With("shift", 32), "is 32"},
                           {window.At(1, DType::kInt16, {4}), "8 expected"},
                           {window.At(1, DType::kInt32, {8}), "int32"}});
}

TEST_CASE("signal: refusals of frames", "[ops]") {
  const SignalOp framer =
      SignalOp("SignalFramer", {{"frame_size", 6}, {"frame_step", 4}, {"prefill", 1}})
          .In(DType::kInt16, {2, 8})
          .Out(DType::kInt16)
          .Out(DType::kBool);
  CheckComplaints(
      framer, {{framer.With("frame_size", 3), "less than"},
               {framer.With("frame_size", 0), "is 0"},
               {framer.With("frame_step", 3), "multiple"},
               {framer.With("frame_size", 1 << 30), "1048576 expected"},
               {framer.At(0, DType::kInt16, {0}), "multiple"},
               {framer.At(0, DType::kInt16, {1 << 20, 8}).With("frame_size", 1 << 19), "too much"},
               {framer.At(0, DType::kInt16, {1, 1, 1, 1, 1, 1, 1, 8}), "9"}});
  const SignalOp stacker = SignalOp("SignalStacker", {{"num_channels", 4},
                                                      {"stacker_left_context", 1},
                                                      {"stacker_right_context", 1},
                                                      {"stacker_step", 3}})
                               .In(DType::kInt16, {4})
                               .Out(DType::kInt16)
                               .Out(DType::kBool);
  CheckComplaints(stacker, {{stacker.With("stacker_step", 4), "is 4"},
                            {stacker.With("stacker_step", 0), "is 0"},
                            {stacker.With("num_channels", 5), "5 expected"},
                            {stacker.With("stacker_left_context", -1), "is -1"},
                            {stacker.With("stacker_left_context", 1 << 20)
                                 .With("num_channels", 1 << 20)
                                 .At(0, DType::kInt16, {1 << 20}),
                             "too much"}});
  const SignalOp delay =
      SignalOp("SignalDelay", {{"delay_length", 3}}).In(DType::kInt16, {4}).Out(DType::kInt16);
  CheckComplaints(delay, {{delay.With("delay_length", -1), "is -1"},
                          {delay.With("delay_length", INT32_MAX), "1048576 expected"},
                          {delay.At(0, DType::kFloat32, {4}), "float32"}});
  const SignalOp add = SignalOp("SignalOverlapAdd", {{"frame_step", 2}})
                           .In(DType::kFloat32, {3, 4})
                           .Out(DType::kFloat32);
  CheckComplaints(add, {{add.With("frame_step", 5), "is 5"},
                        {add.At(0, DType::kFloat32, {4}), "rank"},
                        {add.At(0, DType::kInt32, {3, 4}), "int32"}});
}

TEST_CASE("signal: refusals of filter banks", "[ops]") {
  const SignalOp energy = SignalOp("SignalEnergy", {{"start_index", 1}, {"end_index", 4}})
                              .In(DType::kInt16, {8})
                              .Out(DType::kUInt32);
  CheckComplaints(energy, {{energy.With("end_index", 5), "is 5"},
                           {energy.With("start_index", 5), "is 5"},
                           {energy.With("start_index", -1), "is -1"}});
  const auto bank = [](std::vector<int16_t> starts, std::vector<int16_t> firsts,
                       std::vector<int16_t> widths) {
    return SignalOp("SignalFilterBank", {{"num_channels", 1}})
        .In(DType::kUInt32, {6})
        .In(DType::kInt16, {5})
        .In(DType::kInt16, {5})
        .Constant(starts)
        .Constant(firsts)
        .Constant(widths)
        .Out(DType::kUInt64);
  };
  const SignalOp whole = bank({0, 3}, {0, 2}, {2, 3});
  CheckComplaints(whole, {{bank({0, 4}, {0, 2}, {2, 3}), "3 energies from 4"},
                          {bank({0, 3}, {0, 3}, {2, 3}), "weights from 3"},
                          {bank({-1, 3}, {0, 2}, {2, 3}), "energies from -1"},
                          {bank({0, 3}, {-1, 2}, {2, 3}), "weights from -1"},
                          {bank({0, 3}, {0, 2}, {2, 32767}), "32767 energies"},
                          {bank({0, 3, 1}, {0, 2}, {2, 3}), "2 expected"},
                          {whole.With("num_channels", 2), "3 expected"},
                          {whole.With("num_channels", -1), "is -1"},
                          {whole.At(2, DType::kInt16, {4}), "5 expected"},
                          {whole.At(0, DType::kInt32, {6}), "int32"}});
  CHECK(bank({-7, 3}, {99, 2}, {0, 3}).Complaint() == "");  // a channel of nothing reads nothing
  const SignalOp root = SignalOp("SignalFilterBankSquareRoot", {})
                            .In(DType::kUInt64, {4})
                            .In(DType::kInt32, Shape())
                            .Out(DType::kUInt32);
  CheckComplaints(root, {{root.At(1, DType::kInt32, {2}), "1 expected"},
                         {root.At(0, DType::kInt64, {4}), "int64"}});
  const SignalOp pcan = SignalOp("SignalPCAN", {{"snr_shift", 6}})
                            .In(DType::kUInt32, {4})
                            .In(DType::kUInt32, {4})
                            .In(DType::kInt16, {125})
                            .Out(DType::kUInt32);
  CheckComplaints(pcan, {{pcan.At(2, DType::kInt16, {124}), "125"},
                         {pcan.At(1, DType::kUInt32, {3}), "4 expected"},
                         {pcan.With("snr_shift", 64), "is 64"}});
  const SignalOp log =
      SignalOp("SignalFilterBankLog", {{"input_correction_bits", 3}, {"output_scale", 1600}})
          .In(DType::kUInt32, {4})
          .Out(DType::kInt16);
  CheckComplaints(log, {{log.With("input_correction_bits", 32), "is 32"},
                        {log.With("output_scale", 0), "is 0"}});
  Options options = {{"num_channels", 4},
                     {"smoothing", 1},
                     {"one_minus_smoothing", 1},
                     {"alternate_smoothing", 1},
                     {"alternate_one_minus_smoothing", 1},
                     {"smoothing_bits", 10},
                     {"min_signal_remaining", 1},
                     {"clamping", 0},
                     {"spectral_subtraction_bits", 14}};
  const SignalOp subtraction = SignalOp("SignalFilterBankSpectralSubtraction", options)
                                   .In(DType::kUInt32, {4})
                                   .Out(DType::kUInt32)
                                   .Out(DType::kUInt32);
  CheckComplaints(subtraction, {{subtraction.With("num_channels", 5), "5 expected"},
                                {subtraction.With("smoothing_bits", 32), "is 32"},
                                {subtraction.With("spectral_subtraction_bits", -1), "is -1"},
                                {subtraction.With("smoothing", -1), "is -1"},
                                {subtraction.Without("clamping"), "lack 'clamping'"}});
}

TEST_CASE("signal: a shift that only a run knows", "[ops]") {
  for (const int32_t shift : {-1, 32}) {
    OneOp root(OpCode::kCustom);
    root.params.custom_name = "SignalFilterBankSquareRoot";
    root.In<uint64_t>({1}, {9}).In<int32_t>(Shape(), {shift}).Out(DType::kUInt32);
    CHECK(RunRefusal(root, StatusCode::kInvalidArgument, "0 to 31") == "");
  }
}

}  // namespace micro_front_end_test
}  // namespace test
}  // namespace topwork

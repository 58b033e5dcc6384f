// Comparing a session with the CPU, operator by operator.
//
// Both compute the whole model on the same inputs, every operator on what its own side made before
// it, and keep every operator's output. difference = max |theirs - the CPU's| / range of the CPU's,
// where range = max(largest - smallest, largest magnitude); quantized values count as the real
// numbers they stand for. Operators fused in the session's plan are compared as one.
#ifndef TOPWORK_RUNTIME_SESSION_VERIFY_H_
#define TOPWORK_RUNTIME_SESSION_VERIFY_H_

#include <string>
#include <vector>

#include "runtime/session/session.h"

namespace topwork {

struct ComparedValue {
  int file_index = -1;  // of the operator, in its subgraph
  std::string op;       // "CONV_2D"; "" for an output as the session itself gives it
  std::string output;   // the tensor's name
  std::string backend;  // "opencl", "cpu"; "" likewise
  DType dtype = DType::kFloat32;
  Shape shape;
  double difference = 0.0;  // infinite where one is no finite number and the other another
  double range = 0.0;
  bool agrees = true;             // difference <= tolerance; quantized values may be a step apart
  bool inputs_agree = true;       // all that the operator read agrees: a difference begins here
  double input_difference = 0.0;  // largest of what the operator read
};

struct Verification {
  double tolerance = 0.0;
  std::vector<ComparedValue> layers;   // in the order of running
  std::vector<ComparedValue> outputs;  // of the session as it is, with what it fuses
  // Position in `layers` of the first that does not agree; −1: all do.
  int first_divergence = -1;
  bool agrees = true;  // all layers and outputs
};

// Fills in what two tensors of the same type tell: dtype, shape, difference, range, agrees. A scale and
// a zero point for the whole tensor turn quantized numbers into real ones, so that the range is that
// of the numbers meant.
void CompareTensors(const TensorView& expected, const TensorView& got, double tolerance,
                    ComparedValue* value);

// What differences are allowed where the caller does not say: 1e-3 in float32, 2e-2 where a device
// stores float16.
double DefaultTolerance(const SessionOptions& options);

// Runs the session on its inputs as they are now, twice (once as it is, once keeping every value),
// and a session on the CPU beside it. tolerance 0: DefaultTolerance. Needs memory for all values of
// the model at once, on the host and on the device; options().memory_limit_bytes does not count
// them. Errors: those of Session::Run; DEVICE_LOST where the device failed and the CPU took over.
Result<Verification> Verify(Session* session, double tolerance);

// The verification as JSON; see tw_session_verify.
std::string VerificationToJson(const Verification& verification);

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_SESSION_VERIFY_H_

// RunBands: strips in parallel, the pieces of each in their order.
#include "runtime/plan/band_program.h"

#include <cstring>
#include <mutex>

#include "kernels/ops/shared/dynamic_range.h"

#if !defined(__OPTIMIZE_SIZE__)  // kHasBands
namespace topwork {
namespace {

class Strip {
 public:
  Strip(const RunContext& context, const BandProgram& program, const KeptRange* in_range,
        const RangeKeeper& range, int64_t image, int thread)
      : context_(context),
        program_(program),
        in_range_(in_range),
        range_(range),
        image_(image),
        thread_(thread),
        memory_(context.scratch + static_cast<size_t>(thread) * program.thread_bytes) {}

  Status Run(const std::vector<BandPiece>& pieces) {
    for (const BandPiece& piece : pieces) TW_RETURN_IF_ERROR(RunPiece(piece));
    return Status::Ok();
  }

 private:
  // Row `row` of the image that part `at` makes, in its buffer.
  uint8_t* Made(size_t at, int64_t row) const {
    const BandProgram::Part& part = program_.parts[at];
    return memory_ + part.buffer_offset + static_cast<size_t>(row - first_[at]) * part.row_bytes;
  }

  void* InputData(const BandProgram::Part& part, size_t i, int64_t row) const {
    const BandProgram::Input& input = part.inputs[i];
    if (input.maker >= 0) return Made(static_cast<size_t>(input.maker), row);
    uint8_t* data = context_.in(static_cast<int>(part.first_input + i)).as<uint8_t>();
    if (data == nullptr) return nullptr;  // a constant of which the packed form is left
    return data + static_cast<size_t>(image_) * input.image_bytes +
           static_cast<size_t>(row) * input.row_bytes;
  }

  void* OutputData(size_t at, const BandPiece& piece) {
    const BandProgram::Part& part = program_.parts[at];
    if (at + 1 == program_.parts.size()) {
      const int64_t row = image_ * program_.out_h + piece.made.begin;
      return context_.output_data<uint8_t>(0) + static_cast<size_t>(row) * part.row_bytes;
    }
    if (piece.n_kept > 0) {
      std::memmove(memory_ + part.buffer_offset, Made(at, piece.first),
                   static_cast<size_t>(piece.n_kept) * part.row_bytes);
    }
    first_[at] = piece.first;
    return Made(at, piece.made.begin);
  }

  Status RunPiece(const BandPiece& piece) {
    const size_t shape = static_cast<size_t>(piece.shape);
    const size_t at = static_cast<size_t>(program_.schedule.shapes[shape].op);
    const BandProgram::Prepared& prepared = program_.prepared[shape];
    const BandProgram::Part& part = program_.parts[at];
    TensorView views[kMostBandInputs], output = prepared.output;
    const TensorView* inputs[kMostBandInputs];
    for (size_t i = 0; i < part.inputs.size(); ++i) {
      inputs[i] = nullptr;
      if (!part.inputs[i].given && part.inputs[i].maker < 0) continue;
      views[i] = prepared.inputs[i];
      views[i].data = InputData(part, i, i == 0 ? piece.in.begin : piece.made.begin);
      inputs[i] = &views[i];
    }
    output.data = OutputData(at, piece);
    TensorView* const outputs[1] = {&output};
    RunContext run = context_;
    run.params = &prepared.params;
    run.inputs = {inputs, part.inputs.size()};
    run.outputs = {outputs, 1};
    run.state = prepared.state.get();
    run.scratch = memory_ + program_.part_scratch_offset;
    run.pool = &program_.alone;
    run.in_range = at == 0 ? in_range_ : nullptr;
    run.out_range = nullptr;  // that of the step's output
    TW_RETURN_IF_ERROR(part.def->run_cpu(run));
    if (range_.is_wanted() && at + 1 == program_.parts.size()) {
      range_.Add(thread_, output.as<float>(), output.shape.NumElements());
    }
    return Status::Ok();
  }

  const RunContext& context_;
  const BandProgram& program_;
  const KeptRange* const in_range_;  // of the whole input of the first part; or null
  const RangeKeeper& range_;         // of the step's output
  const int64_t image_;
  const int thread_;
  uint8_t* const memory_;
  int64_t first_[kMostBandOps] = {};  // the row at the front of each buffer
};

// Of the values that the first part quantizes.
KeptRange InRange(const RunContext& context, const BandProgram& program) {
  if (!program.wants_range) return {};
  if (context.in_range != nullptr && context.in_range->is_known) return *context.in_range;
  return MeasureRange(context, context.input_data<float>(0), context.in(0).shape.NumElements(),
                      reinterpret_cast<float*>(context.scratch));
}

}  // namespace

Status RunBands(const RunContext& context) {
  const BandProgram& program = context.get_state<BandProgram>();
  std::mutex mutex;
  Status result = Status::Ok();
  const KeptRange in_range = InRange(context, program);
  const RangeKeeper range(context);
  context.pool->ParallelFor(program.batch * program.n_strips(), [&](int64_t task, int thread) {
    Strip strip(context, program, program.wants_range ? &in_range : nullptr, range,
                task / program.n_strips(), thread);
    const size_t at = static_cast<size_t>(task % program.n_strips());
    Status status = strip.Run(program.schedule.strips[at]);
    if (status.ok()) return;
    const std::lock_guard<std::mutex> lock(mutex);
    result = std::move(status);
  });
  range.Finish();
  return result;
}

}  // namespace topwork
#endif

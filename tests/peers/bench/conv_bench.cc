// Times 3x3 or 1x3 layers as one product (im2col or direct) and through Winograd's transforms, alternating
// in one process: microseconds of the fastest round, how many times faster than the product, the
// largest difference from it in units of the largest output, and which way the library chooses. The
// costs in kernels/ops/conv/conv_winograd.cc were fitted so.
//
//   cmake --build build/release --target topwork_conv_bench
//   build/release/topwork_conv_bench [THREADS] [line]      line: layers of 1x3 taps, in tiles of 1x4
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "kernels/contract/op_codes.h"
#include "kernels/ops/conv/conv_winograd.h"
#include "runtime/base/thread_pool.h"
#include "runtime/plan/prepare.h"
#include "tests/support/float_view.h"
#include "tests/support/random_floats.h"

namespace topwork {
namespace {

struct Layer {
  int32_t batch, size, in_c, out_c;
  int32_t filter_h = 3;
};

struct Bench {
  const CpuKernels& cpu = BestCpuKernels();
  Op op;
  std::vector<float> image, filter, bias, output;
  TensorView inputs[3], result;
  std::vector<uint8_t> scratch;

  explicit Bench(const Layer& layer) {
    const Shape in({layer.batch, layer.size, layer.size, layer.in_c});
    const Shape out({layer.batch, layer.size, layer.size, layer.out_c});
    const Shape weights({layer.out_c, layer.filter_h, 3, layer.in_c});
    image = test::RandomFloats(static_cast<size_t>(in.NumElements()), 1);
    filter = test::RandomFloats(static_cast<size_t>(weights.NumElements()), 2);
    bias = test::RandomFloats(static_cast<size_t>(layer.out_c), 3);
    output.resize(static_cast<size_t>(out.NumElements()));
    inputs[0] = test::FloatView(in, image);
    inputs[1] = test::FloatView(weights, filter);
    inputs[2] = test::FloatView({layer.out_c}, bias);
    result = test::FloatView(out, output);
    op.code = OpCode::kConv2d;
    op.def = FindOp(op.code);
  }

  PlanPrepareContext Context(int n_threads) {
    PlanPrepareContext context(op, {&inputs[0], &inputs[1], &inputs[2]}, {result}, {}, "conv", cpu,
                               n_threads);
    context.SetPacking(PackMode::kPack, nullptr, {}, DefaultAllocator());
    return context;
  }

  RunContext RunOf(const PlanPrepareContext& context, ThreadPool* pool) {
    scratch.resize(std::max(scratch.size(), context.scratch_bytes() + kAlignment));
    RunContext run;
    run.scratch = reinterpret_cast<uint8_t*>(
        AlignUp(reinterpret_cast<uintptr_t>(scratch.data()), kAlignment));
    run.pool = pool;
    run.cpu = &cpu;
    return run;
  }
};

// Seconds of a run.
double Seconds(ThreadPool* pool, FunctionRef<void()> body) {
  const ThreadPool::Run run(pool);
  const auto start = std::chrono::steady_clock::now();
  body();
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  return time.count();
}

// The layer with tiles of 2x2 or 4x4.
struct Winograd {
  PlanPrepareContext context;
  WinogradConv conv;
  ThreadPool pool;

  Winograd(Bench* bench, WinogradTile tile, int n_threads)
      : context(bench->Context(n_threads)), pool(n_threads) {
    ConvShape shape;
    ScratchLayout layout;
    if (!CheckConvShapes(context, &shape).ok() ||
        !PlanWinograd(&context, shape, tile, &layout, &conv).ok() ||
        !layout.Request(&context).ok()) {
      std::abort();
    }
  }
  double Run(Bench* bench, const GemmTask& whole) {
    const RunContext run = bench->RunOf(context, &pool);
    return Seconds(&pool, [&] { RunWinograd(conv, bench->image.data(), whole, run); });
  }
};

void RunLayer(const Layer& layer, int n_threads) {
  Bench b(layer);
  ThreadPool pool(n_threads);
  PlanPrepareContext chosen = b.Context(n_threads), product = b.Context(n_threads);
  product.SetHalfProducts(b.cpu.gemm);  // float32 ones: no other way is considered
  if (!chosen.Prepare(*b.op.def).ok() || !product.Prepare(*b.op.def).ok()) std::abort();
  const bool is_line = layer.filter_h == 1;
  Winograd four(&b, is_line ? WinogradTile{1, 4} : WinogradTile{4, 4}, n_threads);
  Winograd two(&b, is_line ? four.conv.tile : WinogradTile{2, 2}, n_threads);
  const TensorView* inputs[] = {&b.inputs[0], &b.inputs[1], &b.inputs[2]};
  TensorView* outputs[] = {&b.result};
  GemmTask whole;
  whole.bias = b.bias.data();
  whole.c = b.output.data();
  whole.lo = -__builtin_inff();
  whole.hi = __builtin_inff();
  double best[3] = {1e9, 1e9, 1e9}, difference[3] = {};
  std::vector<float> expected;
  for (int round = 0; round < 60; ++round) {
    RunContext run = b.RunOf(product, &pool);
    run.params = &b.op.params;
    run.inputs = {inputs, 3};
    run.outputs = {outputs, 1};
    run.state = product.state().get();
    best[0] = std::min(best[0], Seconds(&pool, [&] { (void)b.op.def->run_cpu(run); }));
    expected = b.output;
    best[1] = std::min(best[1], two.Run(&b, whole));
    difference[1] = test::LargestDifference(b.output, expected);
    best[2] = std::min(best[2], four.Run(&b, whole));
    difference[2] = test::LargestDifference(b.output, expected);
  }
  std::printf("%3d x %3d^2 x %4d to %4d %10.0f", layer.batch, layer.size, layer.in_c, layer.out_c,
              best[0] * 1e6);
  for (const int i : {1, 2}) {
    std::printf(" %9.0f %5.2f %8.1e", best[i] * 1e6, best[0] / best[i], difference[i]);
  }
  std::printf("   %s\n", chosen.variant());
}

int Main(int n_threads, bool is_line) {
  std::printf("%-26s %10s %24s %24s   chosen\n", "us", "product", is_line ? "1x4" : "2x2",
              is_line ? "1x4 again" : "4x4");
  Layer layers[] = {{1, 56, 64, 64},   {1, 28, 128, 128}, {1, 14, 256, 256}, {1, 7, 512, 512},
                    {8, 14, 256, 256}, {8, 7, 512, 512},  {1, 112, 64, 64},  {1, 128, 32, 32},
                    {1, 128, 16, 16},  {1, 128, 16, 64},  {1, 64, 64, 16},   {1, 64, 128, 64},
                    {1, 32, 256, 128}, {1, 16, 96, 96},   {1, 10, 64, 64},   {1, 6, 128, 128},
                    {1, 4, 256, 256},  {1, 5, 32, 32},    {1, 3, 512, 512},  {1, 20, 24, 24}};
  for (Layer& layer : layers) {
    layer.filter_h = is_line ? 1 : 3;
    RunLayer(layer, n_threads);
  }
  return 0;
}

}  // namespace
}  // namespace topwork

int main(int argc, char** argv) {
  return topwork::Main(argc > 1 ? std::atoi(argv[1]) : 1, argc > 2);
}

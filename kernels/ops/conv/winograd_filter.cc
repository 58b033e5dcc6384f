// The matrices G belong to the points 0, 1, -1 and 0, 3/4, -3/4, 3/2, -3/2, each with infinity.
#include "kernels/ops/conv/winograd_filter.h"

namespace topwork {
namespace {

constexpr double kFilter2[4 * 3] = {1, 0, 0, 0.5, 0.5, 0.5, 0.5, -0.5, 0.5, 0, 0, 1};
// Row i of the point p: 1, p, p^2 over the product of its distances from the other points.
constexpr double kA = 0.75, kB = 1.5, kZero = kA * kA * kB * kB;
constexpr double kAtA = 2 * kA * kA * (kA * kA - kB * kB);
constexpr double kAtB = 2 * kB * kB * (kB * kB - kA * kA);
constexpr double kFilter4[6 * 3] = {
    1 / kZero, 0,          0,              //
    1 / kAtA,  kA / kAtA,  kA* kA / kAtA,  //
    1 / kAtA,  -kA / kAtA, kA* kA / kAtA,  //
    1 / kAtB,  kB / kAtB,  kB* kB / kAtB,  //
    1 / kAtB,  -kB / kAtB, kB* kB / kAtB,  //
    0,         0,          1,
};

}  // namespace

void WinogradFactors(int tile, int position, double factors[9]) {
  const double* matrix = tile == 2 ? kFilter2 : kFilter4;
  const double* row = matrix + position / (tile + 2) * 3;
  const double* column = matrix + position % (tile + 2) * 3;
  for (int tap = 0; tap < 9; ++tap) factors[tap] = row[tap / 3] * column[tap % 3];
}

void WinogradLineFactors(int position, double factors[3]) {
  for (int tap = 0; tap < 3; ++tap) factors[tap] = kFilter4[position * 3 + tap];
}

}  // namespace topwork

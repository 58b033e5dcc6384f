// Functions that other *_isa.cc files define and dense_isa.cc puts into an instruction set's
// TrainKernels; train_kernels.h says what they do. Only *_isa.cc files include this header.
#ifndef TOPWORK_KERNELS_TRAIN_ISA_FUNCTIONS_H_
#define TOPWORK_KERNELS_TRAIN_ISA_FUNCTIONS_H_

#include "kernels/train/train_kernels.h"

#ifndef TW_ISA
#define TW_ISA baseline
#endif

namespace topwork {
namespace TW_ISA {

float MaxAbs(const float* x, int64_t n);
double SumSquares(const float* x, int64_t n);
void Scale(float factor, int64_t n, float* x);
void Sgd(const SgdStep& step, int64_t n, const float* gradient, float* velocity, float* parameters);
void Adam(const AdamStep& step, int64_t n, const float* gradient, float* m, float* v,
          float* parameters);
void AddProducts(const double* a, const double* b, int64_t depth, int64_t stride, double* out);
double DotDoubles(const double* a, const double* b, int64_t n);
double UpdateDot(double p, const double* w, double q, const double* v, const double* next,
                 int64_t n, double* row);
void MultiplyRows(const double* rows, int64_t stride, int64_t n, const double* v,
                  const double* factors, double* y, double* sums);
void SoftmaxCrossEntropy(const SoftmaxStep& step);
void MomentsOfSoftmax(const float* logits, int64_t n_rows, int64_t n_classes, float beta,
                      SoftmaxMoments* out);

}  // namespace TW_ISA
}  // namespace topwork

#endif  // TOPWORK_KERNELS_TRAIN_ISA_FUNCTIONS_H_

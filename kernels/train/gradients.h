// The gradients that rows of operators name; what a BackwardDef is: backward.h.
#ifndef TOPWORK_KERNELS_TRAIN_GRADIENTS_H_
#define TOPWORK_KERNELS_TRAIN_GRADIENTS_H_

namespace topwork {

struct BackwardDef;

extern const BackwardDef kBackwardAdd;
extern const BackwardDef kBackwardAveragePool2D;
extern const BackwardDef kBackwardConcatenation;
extern const BackwardDef kBackwardConv2D;
extern const BackwardDef kBackwardDepthwiseConv2D;
extern const BackwardDef kBackwardDiv;
extern const BackwardDef kBackwardElu;
extern const BackwardDef kBackwardFullyConnected;
extern const BackwardDef kBackwardGelu;
extern const BackwardDef kBackwardHardSwish;
extern const BackwardDef kBackwardLeakyRelu;
extern const BackwardDef kBackwardLogistic;
extern const BackwardDef kBackwardMaxPool2D;
extern const BackwardDef kBackwardMean;
extern const BackwardDef kBackwardMul;
extern const BackwardDef kBackwardPad;
extern const BackwardDef kBackwardPrelu;
extern const BackwardDef kBackwardRelu;
extern const BackwardDef kBackwardRelu0To1;
extern const BackwardDef kBackwardRelu6;
extern const BackwardDef kBackwardReluN1To1;
extern const BackwardDef kBackwardReshape;
extern const BackwardDef kBackwardSoftmax;
extern const BackwardDef kBackwardSqueeze;
extern const BackwardDef kBackwardSub;
extern const BackwardDef kBackwardTanh;

}  // namespace topwork

#endif  // TOPWORK_KERNELS_TRAIN_GRADIENTS_H_

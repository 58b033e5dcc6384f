set(TRAIN_SOURCES
  constants.cc
  head.cc
  head_trainer.cc
  metrics.cc
  options.cc
)

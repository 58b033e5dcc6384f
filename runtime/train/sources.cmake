set(TRAIN_SOURCES
  head_trainer.cc
  metrics.cc
  options.cc
)

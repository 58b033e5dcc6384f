set(TENSOR_SOURCES
  tensor.cc
  half.cc
)

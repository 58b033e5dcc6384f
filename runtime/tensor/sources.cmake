set(TENSOR_SOURCES
  strings.cc
  tensor.cc
  half.cc
  packed.cc
)

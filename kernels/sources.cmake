# Every .cc under kernels is part of the library, by its name:
#   *_isa.cc          compiled once per instruction set (contract/cpu_kernels.h)
#   cpu/eigen_*.cc    the instruction set `eigen`
#   every other .cc   compiled once
set(KERNELS_FOLDERS contract gpu state cpu train
  ops/shared ops/elementwise ops/reduce ops/conv ops/products ops/movement ops/recurrent ops/control ops/signal)
# Their code lies in memory in the order of the list: first what most models run (CMakeLists.txt).
set(often "^(contract|cpu|state|ops/shared)/"
  "^ops/conv/(conv_|depthwise_conv_2d|pool)" "^ops/products/(fully|integer_[cp]|requant)"
  "^ops/elementwise/(activations|arithmetic|binary|hard_swish|quantize|unary)"
  "^ops/reduce/(reduce|rowwise)(_quant)?\\." "^ops/movement/(concatenation|padding|reshape)\\.")
list(JOIN often "|" often)
set(seldom "")
set(KERNELS_SOURCES "")
set(KERNELS_ISA_SOURCES "")
set(KERNELS_EIGEN_SOURCES "")
foreach(folder IN LISTS KERNELS_FOLDERS)
  file(GLOB files CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_LIST_DIR}"
    "${CMAKE_CURRENT_LIST_DIR}/${folder}/*.cc")
  foreach(file IN LISTS files)
    if(file MATCHES "^cpu/(gemm|depthwise|elementwise|softmax)_isa\\.cc$")
      list(PREPEND KERNELS_ISA_SOURCES "${file}")
    elseif(file MATCHES "_isa\\.cc$")
      list(APPEND KERNELS_ISA_SOURCES "${file}")
    elseif(file MATCHES "^cpu/eigen_")
      list(APPEND KERNELS_EIGEN_SOURCES "${file}")
    elseif(file MATCHES "${often}" AND NOT file MATCHES "_gpu\\.cc$")
      list(APPEND KERNELS_SOURCES "${file}")
    else()
      list(APPEND seldom "${file}")
    endif()
  endforeach()
endforeach()
list(APPEND KERNELS_SOURCES ${seldom})
# Compiled for the sets that have instructions for products of bytes alone, too.
set(KERNELS_BYTES_ISA_SOURCES cpu/integer_gemm_isa.cc)
# Compiled for the set `amx` alone, which has nothing else.
set(KERNELS_AMX_SOURCES cpu/integer_amx_isa.cc)
# Compiled for the sets that are products of 16-bit numbers alone, and for no other.
set(KERNELS_HALF_ISA_SOURCES cpu/gemm_half_isa.cc)
list(REMOVE_ITEM KERNELS_ISA_SOURCES ${KERNELS_HALF_ISA_SOURCES} ${KERNELS_AMX_SOURCES})

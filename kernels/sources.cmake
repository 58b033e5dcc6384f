# Every .cc under kernels is part of the library, by its name:
#   *_isa.cc          compiled once per instruction set (contract/cpu_kernels.h)
#   cpu/eigen_*.cc    the instruction set `eigen`
#   every other .cc   compiled once
set(KERNELS_FOLDERS contract gpu state cpu train
  ops/shared ops/elementwise ops/reduce ops/conv ops/products ops/movement ops/recurrent ops/control ops/signal)
set(KERNELS_SOURCES "")
set(KERNELS_ISA_SOURCES "")
set(KERNELS_EIGEN_SOURCES "")
foreach(folder IN LISTS KERNELS_FOLDERS)
  file(GLOB files CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_LIST_DIR}"
    "${CMAKE_CURRENT_LIST_DIR}/${folder}/*.cc")
  foreach(file IN LISTS files)
    if(file MATCHES "_isa\\.cc$")
      list(APPEND KERNELS_ISA_SOURCES "${file}")
    elseif(file MATCHES "^cpu/eigen_")
      list(APPEND KERNELS_EIGEN_SOURCES "${file}")
    else()
      list(APPEND KERNELS_SOURCES "${file}")
    endif()
  endforeach()
endforeach()
# Compiled for the sets that have instructions for products of bytes alone, too.
set(KERNELS_BYTES_ISA_SOURCES cpu/integer_gemm_isa.cc)
# Compiled for the set `amx` alone, which has nothing else.
set(KERNELS_AMX_SOURCES cpu/integer_amx_isa.cc)
# Compiled for the sets that are products of 16-bit numbers alone, and for no other.
set(KERNELS_HALF_ISA_SOURCES cpu/gemm_half_isa.cc)
list(REMOVE_ITEM KERNELS_ISA_SOURCES ${KERNELS_HALF_ISA_SOURCES} ${KERNELS_AMX_SOURCES})

# What compilers for GPUs make of the kernels; the binary lists the programs.
if(TOPWORK_OPENCL AND NOT TOPWORK_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  tw_script_test(readers gpu_compilers gpu_compilers/readers_test.py)
  tw_script_test(tables gpu_compilers gpu_compilers/compilers.py $<TARGET_FILE:topwork_tests>)
  set_tests_properties(gpu_compilers.tables PROPERTIES TIMEOUT 1800 COST 300)
  if(TOPWORK_LONG_TESTS)
    tw_script_test(mesa gpu_compilers gpu_compilers/compilers.py --make-mesa --gpu mesa
      $<TARGET_FILE:topwork_tests>)
    set_tests_properties(gpu_compilers.mesa PROPERTIES TIMEOUT 7200 COST 2000)
  endif()
endif()

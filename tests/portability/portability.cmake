# Whole models on every OpenCL implementation that can be had without a GPU.
if(TOPWORK_LONG_TESTS AND TOPWORK_OPENCL AND TOPWORK_TOOLS AND NOT TOPWORK_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  tw_script_test(matrix portability portability/matrix.py $<TARGET_FILE:topwork_cli>)
  set_tests_properties(portability.matrix PROPERTIES TIMEOUT 7200 COST 2500)
endif()

# The Python package: its module is built on this build's libtopwork.so and installed into build/python/stage, where the
# tests run with the packages of build/.venv.
set(python "${PROJECT_SOURCE_DIR}/build/.venv/bin/python")
tw_script_test(python port ports/python/build_test.py $<TARGET_FILE:topwork> "${CMAKE_COMMAND}" "${python}")
set_tests_properties(port.python PROPERTIES FIXTURES_SETUP python_package COST 200)
foreach(part IN ITEMS session trainer learner quantizer features sounds heads recipes recipes_sounds recipes_wakeword recipes_pytorch notebook flower tflite_zoo)
  tw_script_test(python_${part} port ports/python/run_test.py "${python}" ${part}_test.py)
  set_tests_properties(port.python_${part} PROPERTIES FIXTURES_REQUIRED python_package TIMEOUT 1200)
endforeach()

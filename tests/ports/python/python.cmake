# The Python package: its module is built on this build's libtopwork.so and installed into build/python/stage, where the
# tests run with the packages of build/.venv.
set(python "${PROJECT_SOURCE_DIR}/build/.venv/bin/python")
set(ray_python "${PROJECT_SOURCE_DIR}/build/.venv-ray/bin/python")
tw_script_test(python port ports/python/build_test.py $<TARGET_FILE:topwork> "${CMAKE_COMMAND}" "${python}")
set_tests_properties(port.python PROPERTIES FIXTURES_SETUP python_package COST 200)
foreach(part IN ITEMS docs pictures session trainer learner quantizer features sounds heads recipes recipes_sounds recipes_wakeword recipes_pytorch notebook flower flower_secure flower_engine tflite_zoo)
  tw_script_test(python_${part} port ports/python/run_test.py "${python}" ${part}_test.py)
  set_tests_properties(port.python_${part} PROPERTIES FIXTURES_REQUIRED python_package TIMEOUT 1200)
endforeach()
tw_script_test(python_ray port ports/python/run_test.py "${ray_python}" ray_test.py)
set_tests_properties(port.python_ray PROPERTIES FIXTURES_REQUIRED python_package TIMEOUT 1200)
if(TOPWORK_LONG_TESTS)
  # Flower waits for a minute before it takes a node for dead; its simulation is by Ray (toolchains/install-deps.sh ray).
  tw_script_test(python_flower_killed port ports/python/run_test.py "${python}" flower_killed_test.py)
  tw_script_test(python_flower_simulation port ports/python/run_test.py "${ray_python}" flower_simulation_test.py)
  tw_script_test(python_ray_killed port ports/python/run_test.py "${ray_python}" ray_killed_test.py)
  set_tests_properties(port.python_flower_killed port.python_flower_simulation port.python_ray_killed PROPERTIES
    FIXTURES_REQUIRED python_package TIMEOUT 3600)
  # Wheels by zig: each compiles the library; the first makes the types that the others take.
  foreach(machine IN ITEMS x86_64 aarch64 armv7l)
    tw_script_test(python_wheel_${machine} port ports/python/wheels_test.py ${machine})
    set_tests_properties(port.python_wheel_${machine} PROPERTIES TIMEOUT 7200 COST 300 RESOURCE_LOCK wheels)
  endforeach()
  set_tests_properties(port.python_wheel_x86_64 PROPERTIES FIXTURES_SETUP wheel_types)
  set_tests_properties(port.python_wheel_aarch64 port.python_wheel_armv7l PROPERTIES FIXTURES_REQUIRED wheel_types)
endif()

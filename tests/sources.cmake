# Sources of topwork_tests, relative to tests/.
set(TEST_SOURCES
  support/op_cases.cc
)

# Sources of topwork_tests, relative to tests/.
set(TEST_SOURCES
  meta/embedded_test.cc
  meta/reporter_samples_test.cc
  support/op_cases.cc
)

# Files inside the test binary besides tests/data/ops/*.twcases; paths from the root of the tree.
set(TEST_EMBEDDED_FILES
  LICENSE
)

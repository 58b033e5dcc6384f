# Java and Kotlin for Android: Maven builds them and runs their tests on this machine's library.
add_test(NAME port.android COMMAND sh "${PROJECT_SOURCE_DIR}/ports/android/build.sh" $<TARGET_FILE_DIR:topwork>)
set_tests_properties(port.android PROPERTIES LABELS port SKIP_RETURN_CODE ${TOPWORK_SKIP_CODE} TIMEOUT 900
  COST 500 FIXTURES_SETUP android_framework)
tw_script_test(android_package port ports/android/package_test.py "${PROJECT_SOURCE_DIR}/build/maven")
set_tests_properties(port.android_package PROPERTIES FIXTURES_REQUIRED android_framework)
tw_script_test(android_sample port ports/android/sample_test.py "${PROJECT_SOURCE_DIR}/build/maven"
               "${PROJECT_SOURCE_DIR}/build/android/maven/topwork/classes" "${PROJECT_BINARY_DIR}/android_sample")
set_tests_properties(port.android_sample PROPERTIES FIXTURES_REQUIRED android_framework)
tw_script_test(android_shrink port ports/android/shrink_test.py "${PROJECT_SOURCE_DIR}/build/maven"
               "${PROJECT_SOURCE_DIR}/build/android/maven" $<TARGET_FILE_DIR:topwork> "${PROJECT_BINARY_DIR}/android_shrink")
set_tests_properties(port.android_shrink PROPERTIES FIXTURES_REQUIRED android_framework COST 30)

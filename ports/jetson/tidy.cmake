# CPack runs this on the files of all packages before it makes them: manual pages are compressed, archives
# carry no debugging data (CPack itself strips programs and shared libraries only).
file(GLOB_RECURSE _pages "${CPACK_TEMPORARY_DIRECTORY}/*.1")
foreach(_page IN LISTS _pages)
  execute_process(COMMAND gzip -9n "${_page}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(GLOB_RECURSE _archives "${CPACK_TEMPORARY_DIRECTORY}/*.a")
foreach(_archive IN LISTS _archives)
  execute_process(COMMAND "${CPACK_TOPWORK_STRIP}" --strip-debug --remove-section=.comment
    --enable-deterministic-archives "${_archive}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()

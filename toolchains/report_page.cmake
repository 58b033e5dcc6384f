# The parts of the pages (of a training and of a benchmark) as data inside the command line: their style and
# scripts (ports/cli/report) and uPlot, which toolchains/install-deps.sh fetches. Without uPlot the pages say
# that they have no plots.
include("${CMAKE_CURRENT_LIST_DIR}/embed.cmake")

find_path(TOPWORK_uplot_FOLDER uPlot.iife.min.js
          PATHS "${PROJECT_SOURCE_DIR}/build/third_party/uplot" NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
if(NOT TOPWORK_uplot_FOLDER)
  message(STATUS "uPlot is missing: reports will have no plots. toolchains/install-deps.sh fetches it; "
                 "-DTOPWORK_uplot_FOLDER=<folder of uPlot.iife.min.js and uPlot.min.css> names another copy.")
endif()

# tw_embed_report_page(<target> [WITHOUT_UPLOT]): what ports/cli/html_page.cc, report.cc and benchmark/page.cc need.
function(tw_embed_report_page target)
  if(TOPWORK_uplot_FOLDER AND NOT "WITHOUT_UPLOT" IN_LIST ARGN)
    set(uplot_js "${TOPWORK_uplot_FOLDER}/uPlot.iife.min.js")
    set(uplot_css "${TOPWORK_uplot_FOLDER}/uPlot.min.css")
  else()
    set(uplot_js "${CMAKE_CURRENT_BINARY_DIR}/embedded/no_uplot")
    set(uplot_css "${uplot_js}")
    file(WRITE "${uplot_js}" "")
  endif()
  tw_embed(${target} topwork_uplot_js "${uplot_js}")
  tw_embed(${target} topwork_uplot_css "${uplot_css}")
  foreach(part IN ITEMS kit report benchmark labels)
    tw_embed(${target} topwork_${part}_js "${PROJECT_SOURCE_DIR}/ports/cli/report/${part}.js")
  endforeach()
  tw_embed(${target} topwork_report_css "${PROJECT_SOURCE_DIR}/ports/cli/report/report.css")
endfunction()

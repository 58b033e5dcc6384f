# The parts of the training report's page as data inside the command line: its style and script
# (ports/cli/report) and uPlot, which toolchains/install-deps.sh fetches.
include("${CMAKE_CURRENT_LIST_DIR}/embed.cmake")

find_path(TOPWORK_uplot_FOLDER uPlot.iife.min.js
          PATHS "${PROJECT_SOURCE_DIR}/build/third_party/uplot" NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
if(NOT TOPWORK_uplot_FOLDER)
  message(FATAL_ERROR "uPlot, the plots of training reports, is not there: run toolchains/install-deps.sh, "
                      "or pass -DTOPWORK_uplot_FOLDER=<folder that contains uPlot.iife.min.js and "
                      "uPlot.min.css>, or build without the command line: -DTOPWORK_TOOLS=OFF.")
endif()

# tw_embed_report_page(<target>): what ports/cli/report.cc needs.
function(tw_embed_report_page target)
  tw_embed(${target} topwork_uplot_js "${TOPWORK_uplot_FOLDER}/uPlot.iife.min.js")
  tw_embed(${target} topwork_uplot_css "${TOPWORK_uplot_FOLDER}/uPlot.min.css")
  tw_embed(${target} topwork_report_js "${PROJECT_SOURCE_DIR}/ports/cli/report/report.js")
  tw_embed(${target} topwork_report_css "${PROJECT_SOURCE_DIR}/ports/cli/report/report.css")
endfunction()

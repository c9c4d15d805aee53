# The report page: every file of bench/report/page/html is embedded, and the charting library of Debian's
# libjs-d3 with its licence. It is not copied into the source tree; without it, `lockbench report`
# says what to install.
set(LB_D3_DIR "/usr/share/javascript/d3" CACHE PATH "Where d3.min.js (version 3) is")
set(LB_D3_LICENCE "/usr/share/doc/libjs-d3/copyright" CACHE FILEPATH "Its licence")
set(LB_PAGE_SOURCES "")
set(declarations "")
set(entries "")

function(lb_page_part name path)
  string(MAKE_C_IDENTIFIER "lb_page_${name}" symbol)
  lb_embed("${path}" "${CMAKE_BINARY_DIR}/${symbol}.c" "${symbol}")
  set(LB_PAGE_SOURCES "${LB_PAGE_SOURCES};${CMAKE_BINARY_DIR}/${symbol}.c" PARENT_SCOPE)
  set(declarations
      "${declarations}extern const unsigned char ${symbol}[];\nextern const size_t ${symbol}_length;\n"
      PARENT_SCOPE)
  set(entries "${entries}    {\"${name}\", ${symbol}, &${symbol}_length},\n" PARENT_SCOPE)
endfunction()

file(GLOB files CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/bench/report/page/html/*")
foreach(path IN LISTS files)
  get_filename_component(name "${path}" NAME)
  lb_page_part("${name}" "${path}")
endforeach()
set(nothing "${CMAKE_BINARY_DIR}/nothing")
file(WRITE "${nothing}" "")
if(EXISTS "${LB_D3_DIR}/d3.min.js" AND EXISTS "${LB_D3_LICENCE}")
  lb_page_part(d3.js "${LB_D3_DIR}/d3.min.js")
  lb_page_part(d3.txt "${LB_D3_LICENCE}")
else()
  message(STATUS "no libjs-d3: lockbench report will not work")
  lb_page_part(d3.js "${nothing}")
  lb_page_part(d3.txt "${nothing}")
endif()
set(generated "${CMAKE_BINARY_DIR}/page_parts.c")
file(CONFIGURE OUTPUT "${generated}" @ONLY CONTENT
"/* Generated from bench/report/page/html/. */
#include \"page.h\"
@declarations@
const struct lb_page_part lb_page_parts[] = {
@entries@    {NULL, NULL, NULL},
};
")
list(APPEND LB_PAGE_SOURCES "${generated}")

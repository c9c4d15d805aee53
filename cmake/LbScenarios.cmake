# The built-in scenarios: every .ini here is embedded.
file(GLOB files CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/scenarios/*.ini")
set(declarations "")
set(entries "")
set(LB_SCENARIO_SOURCES "")
foreach(path IN LISTS files)
  get_filename_component(name "${path}" NAME_WE)
  string(MAKE_C_IDENTIFIER "lb_ini_${name}" symbol)
  lb_embed("${path}" "${CMAKE_BINARY_DIR}/${symbol}.c" "${symbol}")
  list(APPEND LB_SCENARIO_SOURCES "${CMAKE_BINARY_DIR}/${symbol}.c")
  string(APPEND declarations
         "extern const unsigned char ${symbol}[];\nextern const size_t ${symbol}_length;\n")
  string(APPEND entries "    {\"${name}\", ${symbol}, &${symbol}_length},\n")
endforeach()
set(generated "${CMAKE_BINARY_DIR}/scenarios.c")
file(CONFIGURE OUTPUT "${generated}" @ONLY CONTENT
"/* Generated from scenarios/. */
#include \"scenario.h\"
@declarations@
const struct lb_embedded_scenario lb_embedded_scenarios[] = {
@entries@    {NULL, NULL, NULL},
};
")
list(APPEND LB_SCENARIO_SOURCES "${generated}")

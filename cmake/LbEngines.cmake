# The engines, in the order of `lockbench list engines`: a folder of bench/db that defines lb_db_<name>, and
# the client library that it needs. A new engine is its folder, and one line in this list.
set(LB_ENGINE_LINES
    sqlite=sqlite3
    postgres=libpq
    mariadb=libmariadb
)

set(LB_ENGINES "")
set(LB_ENGINE_LIBRARIES "")
set(LB_ENGINE_LIST "${CMAKE_CURRENT_BINARY_DIR}/engine_list.c")
set(declarations "")
set(entries "")
foreach(line IN LISTS LB_ENGINE_LINES)
  string(REGEX MATCH "^([a-z]+)=(.+)$" _ "${line}")
  set(name "${CMAKE_MATCH_1}")
  set(library "${CMAKE_MATCH_2}")
  string(TOUPPER "${name}" prefix)
  pkg_check_modules(${prefix} REQUIRED IMPORTED_TARGET ${library})
  list(APPEND LB_ENGINES "${name}")
  list(APPEND LB_ENGINE_LIBRARIES "PkgConfig::${prefix}")
  string(APPEND declarations "extern const struct lb_db lb_db_${name};\n")
  string(APPEND entries "    &lb_db_${name},\n")
endforeach()
file(CONFIGURE OUTPUT "${LB_ENGINE_LIST}" @ONLY CONTENT
"/* Generated from cmake/LbEngines.cmake. */
#include \"db.h\"
@declarations@
const struct lb_db *const lb_engines[] = {
@entries@    NULL,
};
")

# psn/version.h, and psn_commit.h with the commit that was built, which is looked up at every build.
set(generated ${PROJECT_BINARY_DIR}/generated)
configure_file(${CMAKE_CURRENT_LIST_DIR}/version.h.in ${generated}/psn/version.h @ONLY)
find_package(Git QUIET)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWY libhwy)  # its headers do not tell
add_custom_target(psn_commit
  COMMAND ${CMAKE_COMMAND} -DGIT=${GIT_EXECUTABLE} -DSOURCE=${PROJECT_SOURCE_DIR} -DHEADER=${generated}/psn_commit.h
          -P ${CMAKE_CURRENT_LIST_DIR}/commit.cmake
  BYPRODUCTS ${generated}/psn_commit.h VERBATIM)

# Alone, for it is compiled again with every commit.
set(build_type "${CMAKE_BUILD_TYPE}")
if(PSN_SANITIZE)
  string(APPEND build_type " ${PSN_SANITIZE}")
endif()
set(facts ${PROJECT_SOURCE_DIR}/psn/services/build_facts.cpp)
set_source_files_properties(${facts} PROPERTIES
  SKIP_UNITY_BUILD_INCLUSION ON
  COMPILE_DEFINITIONS "PSN_HIGHWAY_VERSION=\"${HWY_VERSION}\";PSN_BUILD_TYPE=\"${build_type}\"")

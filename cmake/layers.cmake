# One shared library per folder of psn/ (modules in folders `mpi`, `netcdf` and `preload` apart), with the include path that its sources see and links only
# to the layers it may use. tests/layering checks the includes themselves.

set(PSN_WARNINGS -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers)

# For programs in C and Fortran, which C++ options do not fit.
add_library(psn_link_options INTERFACE)
if(PSN_SANITIZE)
  target_link_options(psn_link_options INTERFACE -fsanitize=${PSN_SANITIZE})
endif()

# For C++ that sanitizers need not watch.
add_library(psn_plain_options INTERFACE)
target_compile_options(psn_plain_options INTERFACE ${PSN_WARNINGS} -fno-semantic-interposition)
target_link_libraries(psn_plain_options INTERFACE psn_link_options)
find_program(PSN_MOLD mold)
if(PSN_MOLD)
  target_link_options(psn_plain_options INTERFACE -fuse-ld=mold)
endif()

# Of several sources compiled as one, gcc takes all but the first for headers.
if(CMAKE_UNITY_BUILD)
  target_compile_options(psn_plain_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()

# For all other C++.
add_library(psn_options INTERFACE)
target_link_libraries(psn_options INTERFACE psn_plain_options)
if(PSN_SANITIZE)
  # With sanitizers, gcc takes members of unions for uninitialized that are not.
  target_compile_options(psn_options INTERFACE -fsanitize=${PSN_SANITIZE} -fno-sanitize-recover=all
                                               -fno-omit-frame-pointer
                                               $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  # gcc says so itself.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND PSN_SANITIZE MATCHES "address")
    target_compile_definitions(psn_options INTERFACE __SANITIZE_ADDRESS__)
  endif()
endif()

# Before 1.0 every minor version is another interface.
function(psn_soname)
  set_target_properties(${ARGN} PROPERTIES
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endfunction()

# psn_layer(NAME [USES layer...] [LINK PUBLIC|PRIVATE library...])
function(psn_layer name)
  cmake_parse_arguments(ARG "" "" "USES;LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/psn/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/(mpi|netcdf|preload)/")
  add_library(psn_${name} ${sources})
  target_include_directories(psn_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                                $<INSTALL_INTERFACE:include>)
  foreach(layer ${ARG_USES})
    target_link_libraries(psn_${name} PUBLIC psn_${layer})
  endforeach()
  if(ARG_LINK)
    target_link_libraries(psn_${name} ${ARG_LINK})
  endif()
  target_link_libraries(psn_${name} PRIVATE $<BUILD_INTERFACE:psn_options>)
  target_compile_features(psn_${name} PUBLIC cxx_std_20)
  psn_soname(psn_${name})
  set_property(GLOBAL APPEND PROPERTY PSN_LAYERS psn_${name})
endfunction()

# Sources that highway includes again for every kind of processor, so that each must stay alone.
function(psn_highway_sources)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# psn_flatbuffers(LAYER SCHEMA): code generated from psn/LAYER/SCHEMA.fbs, for that layer alone.
find_program(PSN_FLATC flatc REQUIRED)
function(psn_flatbuffers layer schema)
  set(source ${PROJECT_SOURCE_DIR}/psn/${layer}/${schema}.fbs)
  set(generated ${PROJECT_BINARY_DIR}/generated)
  add_custom_command(OUTPUT ${generated}/${schema}_generated.h
                     COMMAND ${PSN_FLATC} --cpp -o ${generated} ${source} DEPENDS ${source})
  target_sources(psn_${layer} PRIVATE ${generated}/${schema}_generated.h)
  target_include_directories(psn_${layer} SYSTEM PRIVATE ${generated})
endfunction()

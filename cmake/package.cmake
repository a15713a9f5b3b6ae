# Debian packages (scripts/package): psn to run, psn-mpi and psn-netcdf for what needs these libraries,
# libpsn-dev to build on it, python3-psn.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME psn)
set(CPACK_PACKAGE_CONTACT "the psn developers <psn@localhost>" CACHE STRING "Maintainer of the packages")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "neural stand-ins for stochastic simulators, and inference in both")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # what each library needs, by the packages on this machine
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)

# psn_package(COMPONENT PACKAGE WHAT-IT-IS [NEEDED-PACKAGE...]), beside libraries that it is linked to.
set(CPACK_COMPONENTS_ALL)
macro(psn_package component package what)
  string(TOUPPER ${component} name)
  set(CPACK_DEBIAN_${name}_PACKAGE_NAME ${package})
  set(CPACK_COMPONENT_${name}_DESCRIPTION "${what}")
  string(JOIN ", " CPACK_DEBIAN_${name}_PACKAGE_DEPENDS ${ARGN})
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  install(FILES LICENSE DESTINATION share/doc/${package} RENAME copyright COMPONENT ${component} EXCLUDE_FROM_ALL)
endmacro()

set(this_one "psn (= ${PROJECT_VERSION})")
psn_package(runtime psn "The program, its libraries, man pages and completions.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "psn-mpi, psn-netcdf, python3-psn, libpsn-dev, nodejs, librsvg2-bin")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/debian/triggers)
psn_package(development libpsn-dev "Headers and a CMake package, for plugins and programs." ${this_one} libfmt-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
if(TARGET psn_mpi)
  psn_package(mpi psn-mpi "psn under mpirun." ${this_one} openmpi-bin)
endif()
if(TARGET psn_netcdf)
  psn_package(netcdf psn-netcdf "psn export to NetCDF." ${this_one})
endif()

# The Python package where Debian has those, with the libraries of psn's own package. (The component
# `python` of python/CMakeLists.txt is another layout: everything in one folder.)
if(TARGET psn_python)
  set(dist_packages lib/python3/dist-packages/psn)
  install(TARGETS psn_python LIBRARY DESTINATION ${dist_packages} COMPONENT python3 EXCLUDE_FROM_ALL)
  file(GLOB sources CONFIGURE_DEPENDS python/psn/*.py python/psn/*.pyi python/psn/py.typed)
  install(FILES ${sources} DESTINATION ${dist_packages} COMPONENT python3 EXCLUDE_FROM_ALL)
  psn_package(python3 python3-psn "psn in Python." ${this_one} python3-numpy
              "python3 (>= ${PSN_PYTHON_VERSION}~)" "python3 (<< ${PSN_PYTHON_NEXT}~)")
  set(CPACK_DEBIAN_PYTHON3_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON3_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/debian/python3/postinst
                                                 ${CMAKE_CURRENT_LIST_DIR}/debian/python3/prerm)
  set(CPACK_DEBIAN_PYTHON3_PACKAGE_SUGGESTS "python3-zmq, python3-flatbuffers, python3-xarray, python3-netcdf4")
endif()
include(CPack)

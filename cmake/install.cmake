# `cmake --install build` gives the program, the libraries, their headers and a CMake package, so
# that a plugin is `find_package(psn)` and `target_link_libraries(model PRIVATE psn::psn_core)`.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(layers GLOBAL PROPERTY PSN_LAYERS)
set_target_properties(psn PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
set_target_properties(${layers} psn_models psn_experiments PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS psn psn_models psn_experiments RUNTIME LIBRARY)
if(TARGET psn_mpi)
  set_target_properties(psn_mpi PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS psn_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(TARGETS ${layers} EXPORT psn_targets LIBRARY)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/psn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
install(EXPORT psn_targets NAMESPACE psn:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/psn)
file(WRITE ${PROJECT_BINARY_DIR}/psnConfig.cmake
     "include(CMakeFindDependencyMacro)\nfind_dependency(fmt)\n"
     "include(\"\${CMAKE_CURRENT_LIST_DIR}/psn_targets.cmake\")\n")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/psnConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/psnConfig.cmake ${PROJECT_BINARY_DIR}/psnConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/psn)

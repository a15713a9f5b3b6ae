# The part of psn that writes NetCDF: a module that only an export to it loads.
pkg_check_modules(NETCDF IMPORTED_TARGET netcdf)
if(NETCDF_FOUND)
  add_library(psn_netcdf MODULE ${PROJECT_SOURCE_DIR}/psn/io/netcdf/write.cpp)
  target_link_libraries(psn_netcdf PRIVATE psn_io PkgConfig::NETCDF psn_options)
else()
  message(STATUS "no NetCDF: psn export will write npz and CSV only")
endif()

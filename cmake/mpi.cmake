# The part of psn that speaks MPI: a module that only a psn started by mpirun loads.
find_package(MPI COMPONENTS C)
if(MPI_C_FOUND)
  add_library(psn_mpi MODULE ${PROJECT_SOURCE_DIR}/psn/ranks/mpi/mpi_communicator.cpp)
  target_compile_definitions(psn_mpi PRIVATE OMPI_SKIP_MPICXX)
  target_link_libraries(psn_mpi PRIVATE psn_ranks MPI::MPI_C psn_options)
else()
  message(STATUS "no MPI: psn will run on one machine only")
endif()

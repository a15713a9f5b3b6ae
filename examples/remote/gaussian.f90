! A simulator in Fortran:
!   psn infer 'exec:build/bin/example_remote_fortran {endpoint}' --observe obs0=8 --observe obs1=9
module psn
  use iso_c_binding
  implicit none
  interface
    integer(c_int) function psn_serve(name, program, data, endpoint) bind(c)
      import
      character(kind=c_char), intent(in) :: name(*), endpoint(*)
      type(c_funptr), value :: program
      type(c_ptr), value :: data
    end function
    real(c_double) function psn_sample_normal(name, mean, stddev) bind(c)
      import
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: mean, stddev
    end function
    real(c_double) function psn_observe_normal(name, mean, stddev, value) bind(c)
      import
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: mean, stddev
      type(c_ptr), value :: value
    end function
  end interface
contains
  real(c_double) function simulate(data) bind(c)
    type(c_ptr), value :: data
    real(c_double) :: mu, ignored
    mu = psn_sample_normal("mu" // c_null_char, 1.0_c_double, sqrt(5.0_c_double))
    ignored = psn_observe_normal("obs0" // c_null_char, mu, sqrt(2.0_c_double), c_null_ptr)
    ignored = psn_observe_normal("obs1" // c_null_char, mu, sqrt(2.0_c_double), c_null_ptr)
    simulate = mu
  end function
end module

program main
  use psn
  character(len=1000) :: endpoint
  call get_command_argument(1, endpoint)
  if (psn_serve("gaussian" // c_null_char, c_funloc(simulate), c_null_ptr, &
                trim(endpoint) // c_null_char) /= 0) stop 1
end program

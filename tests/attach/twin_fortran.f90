! Programs of psn's, as somebody would write them who knows Fortran and not psn.
program twin
  implicit none
  character(len=16) :: name
  integer :: seeds, i
  integer, allocatable :: seed(:)
  call get_command_argument(1, name)
  call random_seed(size=seeds)
  allocate (seed(seeds))
  seed = [(i, i=1, seeds)]
  call random_seed(put=seed)
  if (name == 'gaussian') call gaussian()
  if (name == 'hmm') call hmm()
  if (name == 'branching') call branching()
  if (name == 'loop') call loop()

contains

  subroutine gaussian() ! Box and Muller
    real(8) :: u(2)
    real(8), parameter :: pi = 3.14159265358979323846d0
    call random_number(u)
    print '(a,es24.16)', 'mean ', 1 + sqrt(5d0)*sqrt(-2*log(1 - u(1)))*cos(2*pi*u(2))
  end subroutine

  subroutine hmm()
    real(8), parameter :: next(3, 3) = reshape([0.7d0, 0.2d0, 0.1d0, 0.15d0, 0.7d0, 0.15d0, &
                                                0.1d0, 0.3d0, 0.6d0], [3, 3])
    real(8), parameter :: level(0:2) = [-1d0, 0.5d0, 2d0]
    real(8) :: row(3), u
    integer :: state, t
    row = 1/3d0
    do t = 1, 4
      call random_number(u)
      state = merge(0, merge(1, 2, u < row(1) + row(2)), u < row(1))
      print '(a,i0,a,es24.16)', 'state ', state, ' level ', level(state)
      row = next(:, state + 1)
    end do
  end subroutine

  integer function poisson(rate) ! by inversion
    real(8), intent(in) :: rate
    real(8) :: u, p
    call random_number(u)
    p = exp(-rate)
    poisson = 0
    do while (u >= p .and. poisson < 100)
      u = u - p
      poisson = poisson + 1
      p = p*rate/poisson
    end do
  end function

  subroutine branching()
    real(8) :: rate, current, next, sum
    integer :: count, extra
    count = poisson(4d0)
    rate = 6
    print '(a,i0)', 'count ', count
    if (count <= 4) then
      current = 0
      next = 1
      do i = 1, 3*count
        sum = current + next
        current = next
        next = sum
      end do
      extra = poisson(4d0)
      print '(a,i0)', 'extra ', extra
      rate = 1 + current + extra
    end if
    print '(a,es24.16)', 'rate ', rate
  end subroutine

  subroutine loop()
    real(4) :: u
    integer :: tries
    tries = 1
    do
      call random_number(u)
      if (u < 0.4) exit
      tries = tries + 1
    end do
    print '(a,i0)', 'tries ', tries
  end subroutine

end program

! A Fortran program that waits below a recursion with an array of variable length, in an internal procedure that was passed on.
module calls
  implicit none
  interface
    subroutine work(i)
      integer, intent(in) :: i
    end subroutine
  end interface
contains
  recursive integer function recursion(n, last) result(total)
    integer, intent(in) :: n
    procedure(work) :: last
    integer :: local(n + 1)
    local = n
    if (n == 0) then
      call last(n)
      total = 0
    else
      total = recursion(n - 1, last) + local(n)
    end if
  end function
end module

program frames
  use calls
  implicit none
  integer :: total
  total = 1
  total = total + recursion(30, inner)
  print *, total
contains
  subroutine inner(i)
    integer, intent(in) :: i
    total = total + i
    print '(a)', 'ready'
    flush (6)
    call sleep(100000)
    total = total + 1
  end subroutine
end program

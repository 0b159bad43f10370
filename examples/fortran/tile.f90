! SPDX-License-Identifier: MIT
! A tile on the floor with a pin on top: posts the contacts as arrays in binary, prints the forces and the Hessian.
!
! cc -c examples/c/frictiond_http.c -o build/frictiond_client.o &&
!     gfortran -J build examples/fortran/tile.f90 build/frictiond_client.o -lcurl -ljansson -o build/tile_fortran &&
!     build/tile_fortran [URL]
!
! URL of the service, default http://127.0.0.1:8080.
! Debian: gfortran libcurl4-gnutls-dev (or -openssl-dev) libjansson-dev
!
! Arrays go from Fortran's memory into the request and back, without becoming text. The service stores rows, Fortran
! columns, so an array of shape [n, m] in docs/api.md is dimension(m, n) here: positions(3, n_vertices). Vertices are
! numbered from 0.

! The functions of the C client (examples/c/frictiond_http.h) and of jansson that are called here. Declare others likewise.
module frictiond_http
  use, intrinsic :: iso_c_binding
  implicit none

  type, bind(c) :: frictiond_http_error
    integer(c_long) :: status = 0
    character(kind=c_char) :: detail(512) = c_null_char, pointer(256) = c_null_char, request_id(136) = c_null_char, &
      code(64) = c_null_char
  end type

  type, bind(c) :: frictiond_http_frame
    type(c_ptr) :: tail = c_null_ptr
    integer(c_size_t) :: n_bytes = 0, capacity = 0
  end type

  type, bind(c) :: frictiond_http_answer
    type(c_ptr) :: document = c_null_ptr, body = c_null_ptr
    integer(c_size_t) :: n_bytes = 0
  end type

  interface
    type(c_ptr) function frictiond_http_open(url, token) bind(c)
      import :: c_ptr, c_char
      character(kind=c_char), intent(in) :: url(*)
      type(c_ptr), value :: token    ! c_null_ptr: no token
    end function

    subroutine frictiond_http_close(service) bind(c)
      import :: c_ptr
      type(c_ptr), value :: service
    end subroutine

    type(c_ptr) function frictiond_http_frame_f64(frame, numbers, rows, columns) bind(c)
      import :: c_ptr, c_double, c_size_t, frictiond_http_frame
      type(frictiond_http_frame), intent(inout) :: frame
      real(c_double), intent(in) :: numbers(*)
      integer(c_size_t), value :: rows, columns
    end function

    subroutine frictiond_http_frame_free(frame) bind(c)
      import :: frictiond_http_frame
      type(frictiond_http_frame), intent(inout) :: frame
    end subroutine

    integer(c_int) function frictiond_http_evaluate_frame(service, document, frame, answer, error) bind(c)
      import :: c_ptr, c_int, frictiond_http_frame, frictiond_http_answer, frictiond_http_error
      type(c_ptr), value :: service, document
      type(frictiond_http_frame), intent(in) :: frame
      type(frictiond_http_answer), intent(out) :: answer
      type(frictiond_http_error), intent(inout) :: error
    end function

    subroutine frictiond_http_answer_free(answer) bind(c)
      import :: frictiond_http_answer
      type(frictiond_http_answer), intent(inout) :: answer
    end subroutine

    integer(c_size_t) function frictiond_http_count(array) bind(c)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: array
    end function

    integer(c_int) function frictiond_http_read_f64(answer, array, numbers, n) bind(c)
      import :: c_ptr, c_int, c_double, c_size_t, frictiond_http_answer
      type(frictiond_http_answer), intent(in) :: answer
      type(c_ptr), value :: array
      real(c_double), intent(out) :: numbers(*)
      integer(c_size_t), value :: n
    end function

    integer(c_int) function frictiond_http_read_i32(answer, array, numbers, n) bind(c)
      import :: c_ptr, c_int, c_int32_t, c_size_t, frictiond_http_answer
      type(frictiond_http_answer), intent(in) :: answer
      type(c_ptr), value :: array
      integer(c_int32_t), intent(out) :: numbers(*)
      integer(c_size_t), value :: n
    end function

    type(c_ptr) function json_loads(text, flags, error) bind(c)
      import :: c_ptr, c_char, c_size_t
      character(kind=c_char), intent(in) :: text(*)
      integer(c_size_t), value :: flags
      type(c_ptr), value :: error
    end function

    type(c_ptr) function json_object_get(object, key) bind(c)
      import :: c_ptr, c_char
      type(c_ptr), value :: object
      character(kind=c_char), intent(in) :: key(*)
    end function

    integer(c_int) function json_object_set_new(object, key, value) bind(c)
      import :: c_ptr, c_char, c_int
      type(c_ptr), value :: object, value
      character(kind=c_char), intent(in) :: key(*)
    end function

    real(c_double) function json_real_value(value) bind(c)
      import :: c_ptr, c_double
      type(c_ptr), value :: value
    end function

    integer(c_long_long) function json_integer_value(value) bind(c)
      import :: c_ptr, c_long_long
      type(c_ptr), value :: value
    end function

    ! json_decref is a macro; for a value with one owner it comes down to this function.
    subroutine json_delete(value) bind(c)
      import :: c_ptr
      type(c_ptr), value :: value
    end subroutine
  end interface
end module

program tile
  use, intrinsic :: iso_fortran_env, only: error_unit
  use frictiond_http
  implicit none
  real(c_double), parameter :: positions(3, 4) = reshape([ &    ! m; three corners, a pin
    0d0, 0d0, 0d0,   0.1d0, 0d0, 0d0,   0d0, 0.1d0, 0d0,   0.025d0, 0.05d0, 0.001d0], [3, 4])
  real(c_double), parameter :: velocities(3, 4) = reshape([ &   ! m/s
    0.002d0, 0d0, 0d0,   0.002d0, 0d0, 0d0,   0.002d0, 0.0004d0, 0d0,   0.01d0, 0d0, 0d0], [3, 4])
  character(*), parameter :: text = '{"dim": 3, "friction": {"eps_v": 1e-3, "mu_s": 0.5, "mu_k": 0.3},' // &
    ' "collisions": {"face_vertex": {"vertices": [[3, 0, 1, 2]], "normal_force": 2}, "plane_vertex":' // &    ! N
    ' {"vertices": [0, 1, 2], "plane_normal": [0, 0, 1], "normal_force": [3, 2.5, 4]}},' // &
    ' "hessian": {"format": "csr", "projection": "clamp"}}'//c_null_char

  type(frictiond_http_error) :: error
  type(frictiond_http_frame) :: frame
  type(frictiond_http_answer) :: answer
  type(c_ptr) :: service, batch
  character(1000) :: url = "http://127.0.0.1:8080"
  integer :: status

  if (command_argument_count() > 0) call get_command_argument(1, url)
  service = frictiond_http_open(trim(url)//c_null_char, c_null_ptr)
  batch = json_loads(text, 0_c_size_t, c_null_ptr)
  status = json_object_set_new(batch, "positions"//c_null_char, &
                               frictiond_http_frame_f64(frame, positions, 4_c_size_t, 3_c_size_t))
  if (status == 0) status = json_object_set_new(batch, "velocities"//c_null_char, &
                                                frictiond_http_frame_f64(frame, velocities, 4_c_size_t, 3_c_size_t))
  if (status == 0 .and. c_associated(service)) status = frictiond_http_evaluate_frame(service, batch, frame, answer, error)
  if (status == 0) then
    call print_answer(int(json_integer_value(member("n_vertices"))))
  else    ! the service's reason for a refusal, and the JSON Pointer to the field at fault
    write (error_unit, '(i0, ": ", a, " ", a)') error%status, text_of(error%detail), text_of(error%pointer)
  end if
  call frictiond_http_answer_free(answer)
  call frictiond_http_frame_free(frame)
  call frictiond_http_close(service)
  call json_delete(batch)
  if (status /= 0) stop 1

contains

  type(c_ptr) function member(name, inner)
    character(*), intent(in) :: name
    character(*), intent(in), optional :: inner
    member = json_object_get(answer%document, name//c_null_char)
    if (present(inner)) member = json_object_get(member, inner//c_null_char)
  end function

  function text_of(characters)
    character(kind=c_char), intent(in) :: characters(:)
    character(:), allocatable :: text_of
    integer :: i
    text_of = ""
    do i = 1, findloc(characters, c_null_char, 1) - 1
      text_of = text_of//characters(i)
    end do
  end function

  subroutine print_answer(n_vertices)
    integer, intent(in) :: n_vertices
    real(c_double) :: gradient(3, n_vertices), H(3 * n_vertices, 3 * n_vertices)
    real(c_double), allocatable :: values(:)
    integer(c_int32_t), allocatable :: columns(:)
    integer(c_int32_t) :: first(3 * n_vertices + 1)
    integer(c_size_t) :: n
    integer :: i, k

    n = frictiond_http_count(member("hessian", "data"))
    allocate (values(n), columns(n))
    if (frictiond_http_read_f64(answer, member("gradient"), gradient, size(gradient, kind=c_size_t)) /= 0 .or. &
        frictiond_http_read_i32(answer, member("hessian", "indptr"), first, size(first, kind=c_size_t)) /= 0 .or. &
        frictiond_http_read_i32(answer, member("hessian", "indices"), columns, n) /= 0 .or. &
        frictiond_http_read_f64(answer, member("hessian", "data"), values, n) /= 0) error stop "not a csr matrix"
    H = 0
    do i = 1, 3 * n_vertices
      do k = first(i) + 1, first(i + 1)
        H(i, columns(k) + 1) = values(k)
      end do
    end do

    print '(i0, " contacts, potential ", f8.6, " N m/s")', json_integer_value(member("n_collisions")), &
      json_real_value(member("potential"))
    do i = 1, n_vertices
      print '("friction on vertex ", i0, 3(" ", f9.5), " N")', i - 1, 0 - gradient(:, i)
    end do
    print '("Hessian ", i0, " x ", i0, ", ", i0, " entries, asymmetry ", es7.1, " N s/m")', &
      shape(H), n, maxval(abs(H - transpose(H)))
    print '("H[4, 4] = ", f0.4, " N s/m")', H(5, 5)
  end subroutine
end program

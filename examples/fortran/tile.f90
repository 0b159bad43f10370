! A tile on the floor with a pin on top: friction of the contacts, and the Hessian in csr.
!
! cc -c examples/c/frictiond.c -o build/frictiond_client.o &&
!     gfortran -J build examples/fortran/*.f90 build/frictiond_client.o -lcurl -ljansson -o build/tile_fortran &&
!     build/tile_fortran [URL]
!
! URL of the service, default http://127.0.0.1:8080.
! Debian: gfortran libcurl4-gnutls-dev (or -openssl-dev) libjansson-dev
program tile
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use frictiond
  implicit none
  real(c_double), parameter :: positions(3, 4) = reshape([ &    ! m; three corners, a pin
    0d0, 0d0, 0d0,   0.1d0, 0d0, 0d0,   0d0, 0.1d0, 0d0,   0.025d0, 0.05d0, 0.001d0], [3, 4])
  real(c_double), parameter :: velocities(3, 4) = reshape([ &   ! m/s
    0.002d0, 0d0, 0d0,   0.002d0, 0d0, 0d0,   0.002d0, 0.0004d0, 0d0,   0.01d0, 0d0, 0d0], [3, 4])
  integer(c_int32_t), parameter :: pin(4, 1) = reshape([3, 0, 1, 2], [4, 1]), corners(3) = [0, 1, 2]
  real(c_double), parameter :: normal_force(3) = [3d0, 2.5d0, 4d0]    ! N

  type(frictiond_error) :: error
  type(frictiond_frame) :: frame
  type(frictiond_answer) :: answer
  type(c_ptr) :: service, batch
  integer :: status

  service = frictiond_open(url()//c_null_char, c_null_ptr)
  ! Scalars as JSON (eps_v in m/s, the force on the pin in N), arrays in binary.
  batch = json_loads('{"dim": 3, "friction": {"eps_v": 1e-3, "mu_s": 0.5, "mu_k": 0.3},' // &
    ' "collisions": {"face_vertex": {"normal_force": 2}, "plane_vertex": {"plane_normal": [0, 0, 1]}},' // &
    ' "hessian": {"format": "csr", "projection": "clamp"}}'//c_null_char, 0_c_size_t, c_null_ptr)
  status = 0
  call set(batch, "positions", frictiond_frame_f64(frame, positions, 4_c_size_t, 3_c_size_t), status)
  call set(batch, "velocities", frictiond_frame_f64(frame, velocities, 4_c_size_t, 3_c_size_t), status)
  call set(member(batch, "collisions", "face_vertex"), "vertices", &
    frictiond_frame_i32(frame, pin, 1_c_size_t, 4_c_size_t), status)
  call set(member(batch, "collisions", "plane_vertex"), "vertices", &
    frictiond_frame_i32(frame, corners, 3_c_size_t, 0_c_size_t), status)
  call set(member(batch, "collisions", "plane_vertex"), "normal_force", &
    frictiond_frame_f64(frame, normal_force, 3_c_size_t, 0_c_size_t), status)

  if (status == 0 .and. c_associated(service)) status = frictiond_evaluate_frame(service, batch, frame, answer, error)
  if (status == 0) then
    call print_answer(int(json_integer_value(member(answer%document, "n_vertices"))))
  else
    write (error_unit, '(i0, ": ", a, " ", a)') error%status, text_of(error%detail), text_of(error%pointer)
  end if
  call frictiond_answer_free(answer)
  call frictiond_frame_free(frame)
  call frictiond_close(service)
  call json_delete(batch)
  if (status /= 0) stop 1

contains

  function url()
    character(:), allocatable :: url
    character(1000) :: word
    url = "http://127.0.0.1:8080"
    if (command_argument_count() == 0) return
    call get_command_argument(1, word)
    url = trim(word)
  end function

  subroutine print_answer(n_vertices)
    integer, intent(in) :: n_vertices
    real(c_double) :: gradient(3, n_vertices), H(3 * n_vertices, 3 * n_vertices)
    real(c_double), allocatable :: values(:)
    integer(c_int32_t), allocatable :: columns(:)
    integer(c_int32_t) :: first(3 * n_vertices + 1)
    type(c_ptr) :: document, hessian
    integer(c_size_t) :: n
    integer :: i, k, bad

    document = answer%document
    hessian = member(document, "hessian")
    n = frictiond_count(member(hessian, "data"))
    allocate (values(n), columns(n))
    bad = frictiond_read_f64(answer, member(document, "gradient"), gradient, size(gradient, kind=c_size_t))
    if (bad == 0) bad = frictiond_read_i32(answer, member(hessian, "indptr"), first, size(first, kind=c_size_t))
    if (bad == 0) bad = frictiond_read_i32(answer, member(hessian, "indices"), columns, n)
    if (bad == 0) bad = frictiond_read_f64(answer, member(hessian, "data"), values, n)
    if (bad /= 0) error stop "not a csr matrix"
    H = 0
    do i = 1, 3 * n_vertices
      do k = first(i) + 1, first(i + 1)
        H(i, columns(k) + 1) = values(k)
      end do
    end do

    print '(i0, " contacts, potential ", f8.6, " N m/s")', json_integer_value(member(document, "n_collisions")), &
      json_real_value(member(document, "potential"))
    do i = 1, n_vertices
      print '("friction on vertex ", i0, 3(" ", f9.5), " N")', i - 1, 0 - gradient(:, i)
    end do
    print '("Hessian ", i0, " x ", i0, ", ", i0, " entries, asymmetry ", es7.1, " N s/m")', &
      shape(H), n, maxval(abs(H - transpose(H)))
    print '("H[4, 4] = ", f0.4, " N s/m")', H(5, 5)
  end subroutine
end program

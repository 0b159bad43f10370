! See tests/examples/native_sets.py; carry: as in carried.py, but prints body_gradient and the anchors of body_world.
! derive FILE: {"set", "down", "up": questions of a jvp and of a vjp of it, "whole": the same with all of the set}.
! Prints tangents of the gradient, cotangents of positions and of the speed of the law, of the batch and of the set.
program probe
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use frictiond
  implicit none
  interface
    function json_object_del(object, key) bind(c) result(status)
      import :: c_ptr, c_char, c_int
      type(c_ptr), value :: object
      character(kind=c_char), intent(in) :: key(*)
      integer(c_int) :: status
    end function

    function json_load_file(path, flags, error) bind(c) result(value)
      import :: c_ptr, c_char, c_size_t
      character(kind=c_char), intent(in) :: path(*)
      integer(c_size_t), value :: flags
      type(c_ptr), value :: error
      type(c_ptr) :: value
    end function

    function json_string_value(value) bind(c) result(text)
      import :: c_ptr
      type(c_ptr), value :: value
      type(c_ptr) :: text
    end function
  end interface
  real(c_double), parameter :: velocities(3, 4) = reshape([ &
    0.002d0, 0d0, 0d0,   0.002d0, 0d0, 0d0,   0.002d0, 0.0004d0, 0d0,   0.01d0, 0d0, 0d0], [3, 4])
  type(c_ptr) :: service, file, contacts, question
  type(frictiond_frame) :: frame, none
  type(frictiond_answer) :: answer
  type(frictiond_error) :: error
  integer :: status

  service = frictiond_open(word(1)//c_null_char, c_null_ptr)
  file = json_loads("{}"//c_null_char, 0_c_size_t, c_null_ptr)
  if (word(2) == "set" .or. word(2) == "carry" .or. word(2) == "derive") then
    call json_delete(file)
    file = json_load_file(word(3)//c_null_char, 0_c_size_t, c_null_ptr)
  end if
  status = 0
  question = member(file, "question")
  if (word(2) == "carry") call carry()
  if (word(2) == "derive") call derive()
  if (c_associated(question)) call set(question, "velocities", &
    frictiond_frame_f64(frame, velocities, 4_c_size_t, 3_c_size_t), status)

  contacts = frictiond_set_open(service, json_string_value(member(file, "name")), &
    merge(member(file, "lagged"), file, c_associated(question)), none, error)
  if (.not. c_associated(contacts)) call finish(1)
  if (frictiond_set_evaluate(contacts, question, frame, answer, error) /= 0) call finish(1)
  call print_gradient()
  if (frictiond_set_patch(contacts, member(file, "patch"), none, error) /= 0) call finish(1)
  if (frictiond_set_evaluate(contacts, question, frame, answer, error) /= 0) call finish(1)
  call print_gradient()
  if (frictiond_set_pattern(contacts, "csr"//c_null_char, "upper"//c_null_char, answer, error) /= 0) call finish(1)
  call print_indices()
  if (json_object_del(question, "outputs"//c_null_char) /= 0) call finish(1)
  if (frictiond_set_check(contacts, question, frame, answer, error) /= 0) call finish(1)
  print '(i0)', agrees()
  call frictiond_answer_free(answer)
  call finish(0)

contains

  function word(i)
    integer, intent(in) :: i
    character(:), allocatable :: word
    character(1000) :: long
    call get_command_argument(i, long)
    word = trim(long)
  end function

  subroutine carry()
    integer :: step
    contacts = frictiond_set_open(service, c_null_ptr, member(file, "set"), none, error)
    if (.not. c_associated(contacts)) call finish(1)
    do step = 1, 2
      if (frictiond_set_evaluate(contacts, question, none, answer, error) /= 0) call finish(1)
      call print_array(member(answer%document, "body_gradient"))
      call print_array(member(member(answer%document, "collisions"), "body_world", "anchor"))
      if (step == 1) then
        if (frictiond_set_carry(contacts, answer, 0.5d0, error) /= 0) call finish(1)
      end if
      call frictiond_answer_free(answer)
    end do
    call finish(0)
  end subroutine

  subroutine derive()
    if (frictiond_jvp_frame(service, member(file, "whole", "down"), none, answer, error) /= 0) call finish(1)
    call print_tangents()
    if (frictiond_vjp_frame(service, member(file, "whole", "up"), none, answer, error) /= 0) call finish(1)
    call print_cotangents()
    contacts = frictiond_set_open(service, c_null_ptr, member(file, "set"), none, error)
    if (.not. c_associated(contacts)) call finish(1)
    if (frictiond_set_jvp(contacts, member(file, "down"), none, answer, error) /= 0) call finish(1)
    call print_tangents()
    if (frictiond_set_vjp(contacts, member(file, "up"), none, answer, error) /= 0) call finish(1)
    call print_cotangents()
    call finish(0)
  end subroutine

  subroutine print_tangents()
    call print_array(member(answer%document, "tangents", "gradient"))
    call frictiond_answer_free(answer)
  end subroutine

  subroutine print_cotangents()
    call print_array(member(answer%document, "cotangents", "/positions"))
    print '(es25.17e3)', json_real_value(member(answer%document, "cotangents", "/friction/stribeck_speed"))
    call frictiond_answer_free(answer)
  end subroutine

  subroutine print_array(array)
    type(c_ptr), intent(in) :: array
    real(c_double), allocatable :: numbers(:)
    allocate (numbers(frictiond_count(array)))
    if (frictiond_read_f64(answer, array, numbers, size(numbers, kind=c_size_t)) /= 0) stop 2
    print '(es25.17e3)', numbers
  end subroutine

  ! A json_t begins with its type; JSON_TRUE is 5.
  function agrees()
    integer :: agrees
    integer(c_int), pointer :: type_of
    call c_f_pointer(member(answer%document, "agrees"), type_of)
    agrees = merge(1, 0, type_of == 5)
  end function

  subroutine print_gradient()
    real(c_double) :: gradient(12)
    if (frictiond_read_f64(answer, member(answer%document, "gradient"), gradient, 12_c_size_t) /= 0) stop 2
    print '(es25.17e3)', gradient
    call frictiond_answer_free(answer)
  end subroutine

  subroutine print_indices()
    integer(c_int32_t), allocatable :: indices(:)
    allocate (indices(frictiond_count(member(answer%document, "indices"))))
    if (frictiond_read_i32(answer, member(answer%document, "indices"), indices, size(indices, kind=c_size_t)) /= 0) stop 2
    print '(i0)', indices
    call frictiond_answer_free(answer)
  end subroutine

  subroutine finish(code)
    integer, intent(in) :: code
    if (code /= 0) write (error_unit, '(i0, ": ", a, " ", a)') error%status, text_of(error%detail), &
      text_of(error%pointer)
    call frictiond_set_close(contacts)
    call frictiond_frame_free(frame)
    call frictiond_close(service)
    call json_delete(file)
    if (code /= 0) stop 1
    stop
  end subroutine
end program

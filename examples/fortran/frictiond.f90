! The C client (examples/c/frictiond.h) and the parts of jansson that it needs, for Fortran 2003.
!
! Fortran stores arrays by columns, the service by rows. So an array of shape [n, m] in docs/api.md is dimension(m, n)
! here, with a column for each vertex or contact: positions(3, n_vertices). Vertices are numbered from 0.
module frictiond
  use, intrinsic :: iso_c_binding
  implicit none
  public

  type, bind(c) :: frictiond_error
    integer(c_long) :: status = 0
    character(kind=c_char) :: detail(512) = c_null_char, pointer(256) = c_null_char, request_id(136) = c_null_char, &
      code(64) = c_null_char
  end type

  type, bind(c) :: frictiond_frame
    type(c_ptr) :: tail = c_null_ptr
    integer(c_size_t) :: n_bytes = 0, capacity = 0
  end type

  type, bind(c) :: frictiond_answer
    type(c_ptr) :: document = c_null_ptr, body = c_null_ptr
    integer(c_size_t) :: n_bytes = 0
  end type

  ! Texts end with c_null_char.
  interface
    function frictiond_open(url, token) bind(c) result(service)
      import :: c_ptr, c_char
      character(kind=c_char), intent(in) :: url(*)
      type(c_ptr), value :: token    ! c_null_ptr: no token
      type(c_ptr) :: service
    end function

    subroutine frictiond_close(service) bind(c)
      import :: c_ptr
      type(c_ptr), value :: service
    end subroutine

    function frictiond_frame_f64(frame, numbers, rows, columns) bind(c) result(reference)
      import :: c_ptr, c_double, c_size_t, frictiond_frame
      type(frictiond_frame), intent(inout) :: frame
      real(c_double), intent(in) :: numbers(*)
      integer(c_size_t), value :: rows, columns
      type(c_ptr) :: reference
    end function

    function frictiond_frame_i32(frame, numbers, rows, columns) bind(c) result(reference)
      import :: c_ptr, c_int32_t, c_size_t, frictiond_frame
      type(frictiond_frame), intent(inout) :: frame
      integer(c_int32_t), intent(in) :: numbers(*)
      integer(c_size_t), value :: rows, columns
      type(c_ptr) :: reference
    end function

    subroutine frictiond_frame_free(frame) bind(c)
      import :: frictiond_frame
      type(frictiond_frame), intent(inout) :: frame
    end subroutine

    function frictiond_evaluate_frame(service, document, frame, answer, error) bind(c) result(status)
      import :: c_ptr, c_int, frictiond_frame, frictiond_answer, frictiond_error
      type(c_ptr), value :: service, document
      type(frictiond_frame), intent(in) :: frame
      type(frictiond_answer), intent(out) :: answer
      type(frictiond_error), intent(inout) :: error
      integer(c_int) :: status
    end function

    ! Derivatives (docs/derivatives.md): the document has "tangents", or "cotangents" and "wrt". The answer's are
    ! member(answer%document, "tangents", "gradient") and member(answer%document, "cotangents", "/positions").
    function frictiond_jvp_frame(service, document, frame, answer, error) bind(c) result(status)
      import :: c_ptr, c_int, frictiond_frame, frictiond_answer, frictiond_error
      type(c_ptr), value :: service, document
      type(frictiond_frame), intent(in) :: frame
      type(frictiond_answer), intent(out) :: answer
      type(frictiond_error), intent(inout) :: error
      integer(c_int) :: status
    end function

    function frictiond_vjp_frame(service, document, frame, answer, error) bind(c) result(status)
      import :: c_ptr, c_int, frictiond_frame, frictiond_answer, frictiond_error
      type(c_ptr), value :: service, document
      type(frictiond_frame), intent(in) :: frame
      type(frictiond_answer), intent(out) :: answer
      type(frictiond_error), intent(inout) :: error
      integer(c_int) :: status
    end function

    ! Collision sets: contacts that the service keeps prepared (frictiond.h). name: c_null_ptr for a random one, else
    ! c_loc of a text. Close a set before its service.
    function frictiond_set_open(service, name, document, frame, error) bind(c) result(set)
      import :: c_ptr, frictiond_frame, frictiond_error
      type(c_ptr), value :: service, name, document
      type(frictiond_frame), intent(in) :: frame
      type(frictiond_error), intent(inout) :: error
      type(c_ptr) :: set    ! c_null_ptr: see error
    end function

    subroutine frictiond_set_close(set) bind(c)
      import :: c_ptr
      type(c_ptr), value :: set
    end subroutine

    function frictiond_set_evaluate(set, question, frame, answer, error) bind(c) result(status)
      import :: c_ptr, c_int, frictiond_frame, frictiond_answer, frictiond_error
      type(c_ptr), value :: set, question
      type(frictiond_frame), intent(in) :: frame
      type(frictiond_answer), intent(out) :: answer
      type(frictiond_error), intent(inout) :: error
      integer(c_int) :: status
    end function

    function frictiond_set_check(set, question, frame, answer, error) bind(c) result(status)
      import :: c_ptr, c_int, frictiond_frame, frictiond_answer, frictiond_error
      type(c_ptr), value :: set, question
      type(frictiond_frame), intent(in) :: frame
      type(frictiond_answer), intent(out) :: answer
      type(frictiond_error), intent(inout) :: error
      integer(c_int) :: status
    end function

    function frictiond_set_jvp(set, question, frame, answer, error) bind(c) result(status)
      import :: c_ptr, c_int, frictiond_frame, frictiond_answer, frictiond_error
      type(c_ptr), value :: set, question
      type(frictiond_frame), intent(in) :: frame
      type(frictiond_answer), intent(out) :: answer
      type(frictiond_error), intent(inout) :: error
      integer(c_int) :: status
    end function

    function frictiond_set_vjp(set, question, frame, answer, error) bind(c) result(status)
      import :: c_ptr, c_int, frictiond_frame, frictiond_answer, frictiond_error
      type(c_ptr), value :: set, question
      type(frictiond_frame), intent(in) :: frame
      type(frictiond_answer), intent(out) :: answer
      type(frictiond_error), intent(inout) :: error
      integer(c_int) :: status
    end function

    function frictiond_set_pattern(set, form, triangle, answer, error) bind(c) result(status)
      import :: c_ptr, c_int, c_char, frictiond_answer, frictiond_error
      type(c_ptr), value :: set
      character(kind=c_char), intent(in) :: form(*), triangle(*)
      type(frictiond_answer), intent(out) :: answer
      type(frictiond_error), intent(inout) :: error
      integer(c_int) :: status
    end function

    function frictiond_set_patch(set, fields, frame, error) bind(c) result(status)
      import :: c_ptr, c_int, frictiond_frame, frictiond_error
      type(c_ptr), value :: set, fields
      type(frictiond_frame), intent(in) :: frame
      type(frictiond_error), intent(inout) :: error
      integer(c_int) :: status
    end function

    ! Patches the anchors with those of an answer, for the next step; ratio: of this step's length to the next one's.
    function frictiond_set_carry(set, answer, ratio, error) bind(c) result(status)
      import :: c_ptr, c_int, c_double, frictiond_answer, frictiond_error
      type(c_ptr), value :: set
      type(frictiond_answer), intent(in) :: answer
      real(c_double), value :: ratio
      type(frictiond_error), intent(inout) :: error
      integer(c_int) :: status
    end function

    subroutine frictiond_answer_free(answer) bind(c)
      import :: frictiond_answer
      type(frictiond_answer), intent(inout) :: answer
    end subroutine

    function frictiond_count(array) bind(c) result(n)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: array
      integer(c_size_t) :: n
    end function

    function frictiond_read_f64(answer, array, numbers, n) bind(c) result(status)
      import :: c_ptr, c_int, c_double, c_size_t, frictiond_answer
      type(frictiond_answer), intent(in) :: answer
      type(c_ptr), value :: array
      real(c_double), intent(out) :: numbers(*)
      integer(c_size_t), value :: n
      integer(c_int) :: status
    end function

    function frictiond_read_i32(answer, array, numbers, n) bind(c) result(status)
      import :: c_ptr, c_int, c_int32_t, c_size_t, frictiond_answer
      type(frictiond_answer), intent(in) :: answer
      type(c_ptr), value :: array
      integer(c_int32_t), intent(out) :: numbers(*)
      integer(c_size_t), value :: n
      integer(c_int) :: status
    end function

    function json_loads(text, flags, error) bind(c) result(value)
      import :: c_ptr, c_char, c_size_t
      character(kind=c_char), intent(in) :: text(*)
      integer(c_size_t), value :: flags
      type(c_ptr), value :: error
      type(c_ptr) :: value
    end function

    function json_object_get(object, key) bind(c) result(value)
      import :: c_ptr, c_char
      type(c_ptr), value :: object
      character(kind=c_char), intent(in) :: key(*)
      type(c_ptr) :: value
    end function

    function json_object_set_new(object, key, value) bind(c) result(status)
      import :: c_ptr, c_char, c_int
      type(c_ptr), value :: object, value
      character(kind=c_char), intent(in) :: key(*)
      integer(c_int) :: status
    end function

    function json_real_value(value) bind(c) result(number)
      import :: c_ptr, c_double
      type(c_ptr), value :: value
      real(c_double) :: number
    end function

    function json_integer_value(value) bind(c) result(number)
      import :: c_ptr, c_long_long
      type(c_ptr), value :: value
      integer(c_long_long) :: number
    end function

    ! json_decref is a macro; for a value with one owner it comes down to this function.
    subroutine json_delete(value) bind(c)
      import :: c_ptr
      type(c_ptr), value :: value
    end subroutine
  end interface

contains

  ! A member of a nested object: member(document, "collisions", "plane_vertex").
  function member(object, name, inner) result(value)
    type(c_ptr), intent(in) :: object
    character(*), intent(in) :: name
    character(*), intent(in), optional :: inner
    type(c_ptr) :: value
    value = json_object_get(object, name//c_null_char)
    if (present(inner)) value = json_object_get(value, inner//c_null_char)
  end function

  ! Sets a member of an object to what frictiond_frame_... returned; status becomes 1 if memory ran out.
  subroutine set(object, name, value, status)
    type(c_ptr), intent(in) :: object, value
    character(*), intent(in) :: name
    integer, intent(inout) :: status
    if (json_object_set_new(object, name//c_null_char, value) /= 0) status = 1
  end subroutine

  function text_of(characters) result(text)
    character(kind=c_char), intent(in) :: characters(:)
    character(:), allocatable :: text
    integer :: i
    text = ""
    do i = 1, size(characters)
      if (characters(i) == c_null_char) exit
      text = text//characters(i)
    end do
  end function
end module

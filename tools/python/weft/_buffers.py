# SPDX-License-Identifier: Apache-2.0
"""What lies where: numpy arrays, the buffer protocol, DLPack and numbers, as address, count and type."""
import ctypes
import enum
import math
import struct
import sys

from ._errors import check, raised
from ._library import ffi, lib

try:
    import numpy
except ImportError:  # then results are not arrays, and have to be given
    numpy = None

_builtin = {
    "b": "INT8", "h": "INT16", "i": "INT32", "q": "INT64", "B": "UINT8", "H": "UINT16", "I": "UINT32", "Q": "UINT64",
    "e": "FLOAT16", "bf": "BFLOAT16", "f": "FLOAT", "d": "DOUBLE", "Zf": "COMPLEX_FLOAT", "Zd": "COMPLEX_DOUBLE",
    "?": "BOOL", "Lf": "LOCATED_FLOAT", "Ld": "LOCATED_DOUBLE", "Li": "LOCATED_INT32", "Lq": "LOCATED_INT64"
}
_by_size = {("i", 1): "b", ("i", 2): "h", ("i", 4): "i", ("i", 8): "q",
            ("u", 1): "B", ("u", 2): "H", ("u", 4): "I", ("u", 8): "Q", ("bf", 2): "bf",
            ("f", 2): "e", ("f", 4): "f", ("f", 8): "d", ("c", 8): "Zf", ("c", 16): "Zd", ("b", 1): "?"}
_kind_of_letter = {**dict.fromkeys("bhilqn", "i"), **dict.fromkeys("BHILQNc", "u"), **dict.fromkeys("efd", "f"),
                   "Zf": "c", "Zd": "c", "?": "b"}


def _builtin_type(code: str):
    return lib.weft_type_builtin(getattr(lib, f"WEFT_TYPE_{_builtin[code]}"))


class Op(enum.Enum):
    """The built-in operators."""

    SUM = "SUM"
    PRODUCT = "PRODUCT"
    MIN = "MIN"
    MAX = "MAX"
    BIT_AND = "BIT_AND"
    BIT_OR = "BIT_OR"
    BIT_XOR = "BIT_XOR"
    LOGICAL_AND = "LOGICAL_AND"
    LOGICAL_OR = "LOGICAL_OR"
    LOGICAL_XOR = "LOGICAL_XOR"
    MIN_LOCATION = "MIN_LOCATION"  # of elements of a dtype that `located` makes
    MAX_LOCATION = "MAX_LOCATION"
    REPRODUCIBLE_SUM = "REPRODUCIBLE_SUM"  # of floats: bits that depend on the summands alone
    REPLACE = "REPLACE"  # of windows

    @property
    def handle(self):
        return lib.weft_op_builtin(getattr(lib, f"WEFT_OP_{self.value}"))

    def handle_for(self, _):
        """What weft.h is given for such elements, which sees whether they have it."""
        return self.handle


class operator:
    """An operator of the caller's: `function(lower, upper)` returns what two arrays of elements become, where `lower` is
    of lower ranks. `dtype`: of the elements. It must not call weft. What it raises comes out of its rank's call."""

    def __init__(self, function, dtype, commutes: bool = True):
        if numpy is None:
            raise ImportError("operators of the caller's need numpy")
        self._dtype = numpy.dtype(dtype)

        @ffi.callback("weft_function")
        def combine(lower, inout, count, _):
            try:
                size = count * self._dtype.itemsize
                a = numpy.frombuffer(ffi.buffer(lower, size), self._dtype)
                b = numpy.frombuffer(ffi.buffer(inout, size), self._dtype)
                b[...] = function(a, b)
                return 0
            except BaseException as failure:  # pylint: disable=broad-except  # which C cannot pass
                raised.by_function = failure
                return 1

        self._combine = combine
        made = ffi.new("weft_op**")
        check(lib.weft_op_create(combine, ffi.NULL, int(commutes), made))
        self._handle = ffi.gc(made[0], lib.weft_op_free)

    def handle_for(self, data: "Buffer"):
        if _code_of(self._dtype) != data.code:
            raise TypeError(f"an operator of {self._dtype} for elements of another type: {data.code}")
        return self._handle


class Buffer:
    """Elements of a caller's object, where they are: `data`, `count` and `type` as weft.h takes them. Keeps the object.
    `copied`: they are of a copy, which does not change when the object does."""

    def __init__(self, given, address: int, shape: tuple, strides, code: str, size: int, keeps=None, copied=False):
        self.given, self.shape, self.code, self.size, self.copied = given, shape, code, size, copied
        self._keeps = keeps
        self.data = ffi.cast("void*", address)
        self.elements = math.prod(shape)
        self.element = _builtin_type(code) if code in _builtin else _opaque(size)
        self.count, self.type = self.elements, self.element
        if self.elements and strides is not None and not _packed(shape, strides, size):
            self.type = _spread(self.element, shape, strides)
            self.count = 1
        self.whole = self.count == self.elements

    @property
    def dtype(self):
        if isinstance(self.given, numpy.ndarray):
            return self.given.dtype
        if self.code == "bf":
            raise TypeError("numpy has no bfloat16: give the result a place by out=...")
        return numpy.dtype(self.code.replace("Zf", "c8").replace("Zd", "c16"))

    def in_one_piece(self) -> "Buffer":
        """This, or a copy of what lies in pieces."""
        if self.whole:
            return self
        packed = ffi.new("char[]", self.elements * self.size)
        lib.weft_type_pack(self.type, packed, self.data, self.count)
        address = int(ffi.cast("uintptr_t", packed))
        return Buffer(self.given, address, self.shape, None, self.code, self.size, packed, True)


def _packed(shape, strides, size) -> bool:
    behind = size
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent > 1 and stride != behind:
            return False
        behind *= extent
    return True


def _made(call, *arguments):
    made = ffi.new("weft_type**")
    check(call(*arguments, made))
    return ffi.gc(made[0], lib.weft_type_free)


def _opaque(size: int):
    return _made(lib.weft_type_opaque, size)


def _spread(element, shape, strides):
    """One element of the whole array."""
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent > 1 and stride == 0:
            raise ValueError("an array whose elements lie in one place (numpy.broadcast_to): copy it")
        if extent > 1:
            element = _made(lib.weft_type_repeated, element, extent, stride)
    return element


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _Versioned(ctypes.Structure):
    """DLPack's DLManagedTensorVersioned."""

    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", _DLTensor)]


_is_capsule = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi))
_in_capsule = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))


def _from_dlpack(given, writable: bool) -> Buffer:
    device = given.__dlpack_device__()
    if device[0] not in (1, 3):  # the CPU's memory, or what a device shares with it
        raise TypeError(f"a tensor on device {tuple(device)}: weft takes those in the memory of the CPU")
    try:
        capsule = given.__dlpack__(max_version=(1, 0))
    except TypeError:  # of before there were versions
        capsule = given.__dlpack__()
    if _is_capsule(capsule, b"dltensor_versioned"):
        versioned = _Versioned.from_address(_in_capsule(capsule, b"dltensor_versioned"))
        if writable and versioned.flags & 1:
            raise TypeError(f"a {type(given).__name__} that cannot be written to")
        tensor = versioned.tensor
    else:
        tensor = _DLTensor.from_address(_in_capsule(capsule, b"dltensor"))
    kind = {0: "i", 1: "u", 2: "f", 4: "bf", 5: "c", 6: "b"}.get(tensor.code)
    size = tensor.bits * tensor.lanes // 8
    code = _by_size.get((kind, size), f"V{size}") if tensor.lanes == 1 else f"V{size}"
    shape = tuple(tensor.shape[:tensor.ndim])
    strides = tuple(size * each for each in tensor.strides[:tensor.ndim]) if tensor.strides else None
    return Buffer(given, (tensor.data or 0) + tensor.byte_offset, shape, strides, code, size, capsule)


def located(dtype="d"):
    """The dtype of values that say where they are: {value, index}, for MIN_LOCATION and MAX_LOCATION. Of float, double,
    or integers of 32 or 64 bits."""
    return numpy.dtype([("value", dtype), ("index", numpy.int64)], align=True)


def _code_of(dtype) -> str:
    if not dtype.isnative:
        raise TypeError(f"an array of {dtype}: weft takes the byte order of the machine")
    if dtype.hasobject:
        raise TypeError("an array of objects: send them by the calls that end in _object")
    if dtype.names == ("value", "index"):
        value = dtype["value"]
        code = "L" + _by_size.get((value.kind, value.itemsize), "")
        if code in _builtin and (dtype.fields, dtype.itemsize) == (located(value).fields, located(value).itemsize):
            return code
    return _by_size.get((dtype.kind, dtype.itemsize), f"V{dtype.itemsize}")


def _code_of_format(text: str, size: int) -> str:
    """Of the buffer protocol's."""
    order, letter = ("", text) if text[0] not in "@=<>!" else (text[0], text[1:])
    kind = _kind_of_letter.get(letter)
    if kind is not None and size > 1 and order and order in (">!" if sys.byteorder == "little" else "<"):
        raise TypeError(f"elements of the format {text}: weft takes the byte order of the machine")
    return _by_size.get((kind, size), f"V{size}")


def buffer_of(given, writable: bool = False) -> Buffer:
    """What the object has. Raises TypeError where it has no memory that calls could read, or write."""
    if numpy is not None and isinstance(given, numpy.ndarray):
        if writable and not given.flags.writeable:
            raise TypeError("an array that cannot be written to")
        return Buffer(given, given.ctypes.data, given.shape, given.strides, _code_of(given.dtype), given.itemsize)
    try:
        view = memoryview(given)
    except TypeError:
        view = None
    if view is not None:
        if writable and view.readonly:
            raise TypeError(f"a {type(given).__name__} that cannot be written to")
        if not view.c_contiguous:
            raise TypeError("a memoryview in pieces: weft takes numpy arrays in pieces")
        # The view keeps the memory. It is not kept by what it is seen through here: as garbage both would go at a time,
        # and the view first.
        with ffi.from_buffer(view, require_writable=writable) as seen:
            address = int(ffi.cast("uintptr_t", seen))
        code = _code_of_format(view.format, view.itemsize)
        return Buffer(given, address, view.shape, None, code, view.itemsize, view)
    if hasattr(given, "__dlpack__"):
        return _from_dlpack(given, writable)
    raise TypeError(f"a {type(given).__name__}: weft takes numpy arrays, buffers, DLPack tensors and numbers; other "
                    f"objects go by the calls that end in _object")


class Number:
    """A number that goes and comes as one element."""

    _kinds = ((bool, "?", "B", 1), (int, "q", "q", 8), (float, "d", "d", 8), (complex, "Zd", "2d", 16))

    @classmethod
    def kind_of(cls, given):
        if numpy is not None and isinstance(given, numpy.generic):
            return None
        return next((kind for kind in cls._kinds if isinstance(given, kind[0])), None)

    def __init__(self, given):
        kind = self.kind_of(given)
        values = (given.real, given.imag) if kind[1] == "Zd" else (given,)
        self._memory = bytearray(17)
        self._memory[16] = self._kinds.index(kind)
        try:
            struct.pack_into("=" + kind[2], self._memory, 0, *values)
        except struct.error:
            raise OverflowError(f"{given} has more than 64 bits") from None

    def _address(self) -> int:
        with ffi.from_buffer(self._memory) as seen:
            return int(ffi.cast("uintptr_t", seen))

    def buffer(self) -> Buffer:
        _, code, _, size = self._kinds[self._memory[16]]
        return Buffer(None, self._address(), (), None, code, size, self._memory, True)

    def with_kind(self) -> Buffer:
        """The same as bytes, which say what it is: of another kind where it comes from."""
        return Buffer(None, self._address(), (17, ), None, "B", 1, self._memory, True)

    def value(self):
        python, _, words, _ = self._kinds[self._memory[16]]
        return python(*struct.unpack_from("=" + words, self._memory))


def new_array(like: Buffer, shape: tuple):
    """An array for a result. Raises TypeError without numpy."""
    if numpy is None:
        raise TypeError("without numpy results have to be given a place: out=...")
    return numpy.empty(shape, like.dtype)

# SPDX-License-Identifier: Apache-2.0
"""What lies where: numpy arrays, the buffer protocol, DLPack and numbers, as address, count and type."""
import ctypes
import enum
import math
import threading

from ._errors import check, raised
from ._library import ffi, lib

try:
    import numpy
except ImportError:  # then results are not arrays, and have to be given
    numpy = None

_builtin = {
    "b": "INT8", "h": "INT16", "i": "INT32", "q": "INT64", "B": "UINT8", "H": "UINT16", "I": "UINT32", "Q": "UINT64",
    "e": "FLOAT16", "f": "FLOAT", "d": "DOUBLE", "Zf": "COMPLEX_FLOAT", "Zd": "COMPLEX_DOUBLE", "?": "BOOL"
}
_by_size = {("i", 1): "b", ("i", 2): "h", ("i", 4): "i", ("i", 8): "q",
            ("u", 1): "B", ("u", 2): "H", ("u", 4): "I", ("u", 8): "Q",
            ("f", 2): "e", ("f", 4): "f", ("f", 8): "d", ("c", 8): "Zf", ("c", 16): "Zd", ("b", 1): "?"}


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
    REPRODUCIBLE_SUM = "REPRODUCIBLE_SUM"  # of floats: bits that depend on the summands alone
    REPLACE = "REPLACE"  # of windows

    @property
    def handle(self):
        return lib.weft_op_builtin(getattr(lib, f"WEFT_OP_{self.value}"))


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
        self.handle = ffi.gc(made[0], lib.weft_op_free)


class Buffer:
    """Elements of a caller's object, where they are: `data`, `count` and `type` as weft.h takes them. Keeps the object."""

    def __init__(self, keeps, address: int, shape: tuple, strides, code: str, size: int):
        self.keeps, self.shape, self.code, self.size = keeps, shape, code, size
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
        return numpy.dtype(self.code.replace("Zf", "c8").replace("Zd", "c16"))


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


def _from_dlpack(given) -> Buffer:
    device = given.__dlpack_device__()
    if device[0] not in (1, 3):  # the CPU's memory, or what a device shares with it
        raise TypeError(f"a tensor on device {tuple(device)}: weft takes those in the memory of the CPU")
    capsule = given.__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = _DLTensor.from_address(pointer(capsule, b"dltensor"))
    kind = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}.get(tensor.code)
    size = tensor.bits * tensor.lanes // 8
    code = _by_size.get((kind, size), f"V{size}") if tensor.lanes == 1 else f"V{size}"
    shape = tuple(tensor.shape[:tensor.ndim])
    strides = tuple(size * each for each in tensor.strides[:tensor.ndim]) if tensor.strides else None
    return Buffer((given, capsule), (tensor.data or 0) + tensor.byte_offset, shape, strides, code, size)


def _code_of(dtype) -> str:
    if not dtype.isnative:
        raise TypeError(f"an array of {dtype}: weft takes the byte order of the machine")
    if dtype.hasobject:
        raise TypeError("an array of objects: send them by the calls that end in _object")
    return _by_size.get((dtype.kind, dtype.itemsize), f"V{dtype.itemsize}")


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
        code = {"l": "q", "L": "Q", "c": "B", "N": "Q", "n": "q"}.get(view.format.lstrip("@="), view.format.lstrip("@="))
        kept = ffi.from_buffer(view, require_writable=writable)
        return Buffer((given, view, kept), int(ffi.cast("uintptr_t", kept)), view.shape, None,
                      code if code in _builtin else f"V{view.itemsize}", view.itemsize)
    if hasattr(given, "__dlpack__"):
        return _from_dlpack(given)
    raise TypeError(f"a {type(given).__name__}: weft takes numpy arrays, buffers, DLPack tensors and numbers; other "
                    f"objects go by the calls that end in _object")


class Number:
    """A number that goes and comes as one element."""

    _kinds = ((bool, "?", "bool"), (int, "q", "int64_t"), (float, "d", "double"), (complex, "Zd", "double _Complex"))

    @classmethod
    def kind_of(cls, given):
        if numpy is not None and isinstance(given, numpy.generic):
            return None
        return next((kind for kind in cls._kinds if isinstance(given, kind[0])), None)

    def __init__(self, given):
        self._python, self._code, _ = self.kind_of(given)
        words = {"?": "B", "q": "q", "d": "d", "Zd": "2d"}[self._code]
        self._words = words
        self.memory = bytearray(ctypes.sizeof(ctypes.c_double) * (2 if self._code == "Zd" else 1))
        import struct
        values = (given.real, given.imag) if self._code == "Zd" else (given,)
        try:
            struct.pack_into("=" + words, self.memory, 0, *values)
        except struct.error:
            raise OverflowError(f"{given} has more than 64 bits") from None

    def buffer(self) -> Buffer:
        kept = ffi.from_buffer(self.memory, require_writable=True)
        size = {"?": 1, "Zd": 16}.get(self._code, 8)
        return Buffer((self.memory, kept), int(ffi.cast("uintptr_t", kept)), (), None, self._code, size)

    def value(self):
        import struct
        values = struct.unpack_from("=" + self._words, self.memory)
        return complex(*values) if self._code == "Zd" else self._python(values[0])


def new_array(like: Buffer, shape: tuple):
    """An array for a result. Raises TypeError without numpy."""
    if numpy is None:
        raise TypeError("without numpy results have to be given a place: out=...")
    dtype = getattr(like.keeps, "dtype", None) if isinstance(like.keeps, numpy.ndarray) else None
    return numpy.empty(shape, dtype if dtype is not None else like.dtype)

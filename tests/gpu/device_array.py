# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in device memory, as CuPy and Numba offer them to other Python modules: by the attribute
__cuda_array_interface__. The driver is any libcuda.so.1, that of a GPU or the stand-in beside this
file."""

import array
import ctypes

CODES = {"<f8": "d", "<f4": "f", "<i4": "i", "<i8": "q", "|u1": "B"}  # of the module array


class Driver:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.context = ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), 0)
        self.call("cuCtxPushCurrent_v2", self.context)

    def call(self, name, *arguments):
        error = getattr(self.library, name)(*arguments)
        if error:
            raise RuntimeError(f"{name}: error {error}")


class DeviceArray:
    """Contiguous elements of one type, of any shape, with values of a sequence."""

    def __init__(self, driver, shape, typestr, values=()):
        self.driver, self.shape, self.code = driver, tuple(shape), CODES[typestr]
        self.length = 1
        for n in self.shape:
            self.length *= n
        self.bytes = self.length * array.array(self.code).itemsize
        self.at = ctypes.c_uint64()
        driver.call("cuMemAlloc_v2", ctypes.byref(self.at), ctypes.c_size_t(max(self.bytes, 1)))
        self.__cuda_array_interface__ = {"shape": self.shape, "typestr": typestr, "version": 3,
                                         "strides": None, "data": (self.at.value, False)}
        self.set(values or [0] * self.length)

    def copy(self, to, source):
        if self.bytes:
            self.driver.call("cuMemcpy", ctypes.c_uint64(to), ctypes.c_uint64(source),
                             ctypes.c_size_t(self.bytes))

    def set(self, values):
        host = array.array(self.code, values)
        assert len(host) == self.length
        self.copy(self.at.value, host.buffer_info()[0])

    def get(self):
        host = array.array(self.code, bytes(self.bytes))
        self.copy(host.buffer_info()[0], self.at.value)
        return list(host)

    def free(self):
        self.driver.call("cuMemFree_v2", self.at)

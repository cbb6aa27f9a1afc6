"""A picture of a window as the display shows it, as a PNG."""

import ctypes
import ctypes.util
import struct
import zlib

Z_PIXMAP, ALL_PLANES = 2, -1


class Image(ctypes.Structure):
    """What comes first of Xlib's XImage."""
    _fields_ = [("width", ctypes.c_int), ("height", ctypes.c_int), ("xoffset", ctypes.c_int), ("format", ctypes.c_int),
                ("data", ctypes.c_void_p), ("byte_order", ctypes.c_int), ("bitmap_unit", ctypes.c_int),
                ("bitmap_bit_order", ctypes.c_int), ("bitmap_pad", ctypes.c_int), ("depth", ctypes.c_int),
                ("bytes_per_line", ctypes.c_int), ("bits_per_pixel", ctypes.c_int)]


def write_png(path, width, height, rows):
    """Rows of three bytes a pixel."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) +
                   chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows), 1)) + chunk(b"IEND", b""))


class Camera:
    def __init__(self, display):
        self.x = ctypes.CDLL(ctypes.util.find_library("X11"))
        self.x.XOpenDisplay.restype = ctypes.c_void_p
        self.x.XDefaultRootWindow.restype = ctypes.c_ulong
        self.x.XGetImage.restype = ctypes.POINTER(Image)
        self.display = ctypes.c_void_p(self.x.XOpenDisplay(display.encode()))
        self.root = ctypes.c_ulong(self.x.XDefaultRootWindow(self.display))

    def take(self, path, width, height):
        """The upper left of the screen, where the window is."""
        image = self.x.XGetImage(self.display, self.root, 0, 0, width, height, ctypes.c_ulong(ALL_PLANES & (2 ** 64 - 1)), Z_PIXMAP)
        line = image.contents.bytes_per_line
        data = ctypes.string_at(image.contents.data, line * height)
        rows = []
        for y in range(height):
            blue_first = data[y * line:y * line + 4 * width]
            row = bytearray(3 * width)
            row[0::3], row[1::3], row[2::3] = blue_first[2::4], blue_first[1::4], blue_first[0::4]
            rows.append(bytes(row))
        write_png(path, width, height, rows)
        self.x.XDestroyImage(image)

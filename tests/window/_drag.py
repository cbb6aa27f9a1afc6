"""Files dragged onto a window and dropped there, as a file manager does it: the protocol XDND 5, spoken by Xlib itself."""

import ctypes
import ctypes.util
import pathlib
import time

WAIT = 60  # seconds
CLIENT_MESSAGE, SELECTION_REQUEST, SELECTION_NOTIFY, REPLACE = 33, 30, 31, 0
HEAD = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int), ("display", ctypes.c_void_p)]


class ClientMessage(ctypes.Structure):
    _fields_ = HEAD + [("window", ctypes.c_ulong), ("message_type", ctypes.c_ulong), ("format", ctypes.c_int), ("data", ctypes.c_long * 5)]


class SelectionRequest(ctypes.Structure):
    _fields_ = HEAD + [(name, ctypes.c_ulong) for name in ("owner", "requestor", "selection", "target", "property", "time")]


class Selection(ctypes.Structure):
    _fields_ = HEAD + [(name, ctypes.c_ulong) for name in ("requestor", "selection", "target", "property", "time")]


class Event(ctypes.Union):
    _fields_ = [("type", ctypes.c_int), ("client", ClientMessage), ("request", SelectionRequest), ("selection", Selection),
                ("pad", ctypes.c_long * 24)]


class Drag:
    """One drag onto one window."""

    def __init__(self, display, window):
        self.x = ctypes.CDLL(ctypes.util.find_library("X11"))
        for name, result in (("XOpenDisplay", ctypes.c_void_p), ("XInternAtom", ctypes.c_ulong), ("XCreateSimpleWindow", ctypes.c_ulong),
                             ("XDefaultRootWindow", ctypes.c_ulong)):
            getattr(self.x, name).restype = result
        self.display = ctypes.c_void_p(self.x.XOpenDisplay(display.encode()))
        self.target = ctypes.c_ulong(int(window))
        root = ctypes.c_ulong(self.x.XDefaultRootWindow(self.display))
        zero = ctypes.c_ulong(0)
        self.source = ctypes.c_ulong(self.x.XCreateSimpleWindow(self.display, root, 0, 0, 1, 1, 0, zero, zero))

    def atom(self, name):
        return self.x.XInternAtom(self.display, name.encode(), 0)

    def send(self, name, *data):
        event = Event()
        event.client.type, event.client.window, event.client.format = CLIENT_MESSAGE, self.target.value, 32
        event.client.message_type = self.atom(name)
        event.client.data[0] = self.source.value
        for place, value in enumerate(data, 1):
            event.client.data[place] = value
        self.x.XSendEvent(self.display, self.target, 0, ctypes.c_long(0), ctypes.byref(event))
        self.x.XFlush(self.display)

    def wait_for(self, what, is_it):
        end = time.monotonic() + WAIT
        event = Event()
        while time.monotonic() < end:
            if not self.x.XPending(self.display):
                time.sleep(0.02)
                continue
            self.x.XNextEvent(self.display, ctypes.byref(event))
            if is_it(event):
                return event
        raise SystemExit(f"failed: the window gives no {what}")

    def wait_for_message(self, name):
        wanted = self.atom(name)
        self.wait_for(name, lambda event: event.type == CLIENT_MESSAGE and event.client.message_type == wanted)

    def answer(self, request, text):
        self.x.XChangeProperty(self.display, ctypes.c_ulong(request.requestor), ctypes.c_ulong(request.property),
                               ctypes.c_ulong(request.target), 8, REPLACE, text, len(text))
        event = Event()
        event.selection.type = SELECTION_NOTIFY
        for name in ("requestor", "selection", "target", "property", "time"):
            setattr(event.selection, name, getattr(request, name))
        self.x.XSendEvent(self.display, ctypes.c_ulong(request.requestor), 0, ctypes.c_long(0), ctypes.byref(event))
        self.x.XFlush(self.display)


def drop(display, window, files):
    """Drops the files at (200, 200) of the screen, which must be within the window."""
    drag = Drag(display, window)
    files_type = drag.atom("text/uri-list")
    drag.x.XSetSelectionOwner(drag.display, ctypes.c_ulong(drag.atom("XdndSelection")), drag.source, ctypes.c_ulong(0))
    drag.send("XdndEnter", 5 << 24, files_type)
    drag.send("XdndPosition", 0, 200 << 16 | 200, 0, drag.atom("XdndActionCopy"))
    drag.wait_for_message("XdndStatus")
    drag.send("XdndDrop", 0, 0)
    request = drag.wait_for("request for the files", lambda event: event.type == SELECTION_REQUEST).request
    drag.answer(request, "".join(f"{pathlib.Path(file).absolute().as_uri()}\r\n" for file in files).encode())
    drag.wait_for_message("XdndFinished")
    drag.x.XCloseDisplay(drag.display)

"""Programs that look into other processes, take memory that belongs to none, or take what all sandboxes share.

Each prints WON when it has what it wants.
"""

_C = (
    "import array, ctypes, fcntl, os, socket, subprocess, sys, time\nc = ctypes.CDLL(None, use_errno=True)\nkept = []\n"
)
_WON = "print('WON', flush=True)\n"
_STAY = f"time.sleep(8)\n{_WON}"
_CHILD = "child = subprocess.Popen(['sleep', '60'])\ntime.sleep(0.3)\n"
_FILE = "def file():\n    fd = c.memfd_create(b'x', 0)\n    if fd < 0: sys.exit('refused')\n    return fd\n"
_MIB = 400
"""More than the limit of a sandbox, and less than this machine has."""


def _program(text: str) -> str:
    return _C + text


OTHER_PROCESSES = {
    "ptrace of another process": _program(f"{_CHILD}if c.ptrace(16, child.pid, 0, 0) == 0: {_WON}child.kill()"),
    "process_vm_readv": _program(
        f"{_CHILD}class V(ctypes.Structure): _fields_ = [('base', ctypes.c_void_p), ('size', ctypes.c_size_t)]\n"
        "base = int(open(f'/proc/{child.pid}/maps').read().split('-')[0], 16)\nhere = ctypes.create_string_buffer(16)\n"
        "ours, theirs = V(ctypes.addressof(here), 16), V(base, 16)\n"
        f"if c.process_vm_readv(child.pid, ctypes.byref(ours), 1, ctypes.byref(theirs), 1, 0) > 0: {_WON}child.kill()"
    ),
    "pidfd_getfd": _program(
        f"{_CHILD}if c.syscall(438, os.pidfd_open(child.pid), 0, 0) >= 0: {_WON}child.kill()"
    ),
    "memory, environment and descriptors of the first process": _program(
        "for name in ('mem', 'environ', 'maps', 'auxv', 'map_files', 'fd/0', 'cwd'):\n"
        "    try:\n        path = f'/proc/1/{name}'\n        os.listdir(path) if name in ('map_files', 'cwd') else open(path, 'rb').read(1)\n"
        f"        {_WON}    except OSError: pass"
    ),
    "a new user namespace": _program(f"if c.unshare(0x10000000) == 0: {_WON}"),
    "clone with a new user namespace": _program(
        f"pid = c.syscall(56, 0x10000000 | 17, 0, 0, 0, 0)\nif pid == 0: os._exit(0)\nif pid > 0: {_WON}"
    ),
    "clone3 with a new user namespace": _program(
        "a = (ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, 17)\npid = c.syscall(435, a, 88)\nif pid == 0: os._exit(0)\n"
        f"if pid > 0: {_WON}"
    ),
    "mount in a new namespace": _program(
        "c.unshare(0x10020000)\nos.makedirs('/tmp/m', exist_ok=True)\n"
        f"if c.mount(b'x', b'/tmp/m', b'tmpfs', 0, None) == 0: {_WON}"
    ),
}  # fmt: skip

MEMORY = {
    "files in the directory of cgroups": _program(
        f"with open('/sys/fs/cgroup/x', 'wb') as out:\n    for _ in range({_MIB}): out.write(bytes(1 << 20))\n{_STAY}"
    ),
    "a file of memory, hidden by prctl": _program(
        f"{_FILE}c.prctl(4, 0, 0, 0, 0)\nfd = file()\nfor _ in range({_MIB}): os.write(fd, bytes(1 << 20))\n{_STAY}"
    ),
    "a file of memory, hidden by another group": _program(
        f"{_FILE}os.setegid(1)\nos.setegid(0)\nfd = file()\nfor _ in range({_MIB}): os.write(fd, bytes(1 << 20))\n{_STAY}"
    ),
    "files of memory in flight": _program(
        f"{_FILE}a, b = socket.socketpair()\nfor _ in range({_MIB} // 10):\n    fd = file()\n"
        "    for _ in range(10): os.write(fd, bytes(1 << 20))\n"
        "    a.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [fd]))])\n"
        f"    os.close(fd)\n{_STAY}"
    ),
    "segments of System V that nobody has attached": _program(
        "c.shmat.restype = ctypes.c_void_p\nc.shmdt.argtypes = [ctypes.c_void_p]\n"
        "c.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]\n"
        f"for _ in range({_MIB} // 10):\n    at = c.shmat(c.shmget(0, 10 << 20, 0o1600), None, 0)\n"
        f"    c.memset(at, 1, 10 << 20)\n    c.shmdt(at)\n{_STAY}"
    ),
    "what local sockets have not read": _program(
        "for _ in range(2500):\n    a, b = socket.socketpair()\n    a.setblocking(False)\n    kept.append((a, b))\n    try:\n"
        f"        while True: a.send(bytes(65536))\n    except BlockingIOError: pass\n{_STAY}"
    ),
    "what TCP connections have not read": _program(
        "listener = socket.create_server(('127.0.0.1', 0), backlog=512)\nfor _ in range(200):\n"
        "    a = socket.create_connection(listener.getsockname())\n    b = listener.accept()[0]\n    a.setblocking(False)\n"
        "    kept.append((a, b))\n    try:\n        while True: a.send(bytes(65536))\n    except BlockingIOError: pass\n"
        f"{_STAY}"
    ),
    "a file system of memory in a user namespace": _program(
        "c.unshare(0x10020000)\nos.makedirs('/tmp/m', exist_ok=True)\n"
        "if c.mount(b'x', b'/tmp/m', b'tmpfs', 0, None): sys.exit('refused')\n"
        f"with open('/tmp/m/x', 'wb') as out:\n    for _ in range({_MIB}): out.write(bytes(1 << 20))\n{_STAY}"
    ),
}  # fmt: skip

SHARED = {
    "all instances of inotify": _program(
        f"while len(kept) < 5000:\n    fd = c.inotify_init()\n    if fd < 0: break\n    kept.append(fd)\n{_STAY}"
    ),
    "all instances of inotify, hidden": _program(
        "c.prctl(4, 0, 0, 0, 0)\nwhile len(kept) < 5000:\n    fd = c.inotify_init()\n    if fd < 0: break\n"
        f"    kept.append(fd)\n{_STAY}"
    ),
    "all pages for pipes": _program(
        "for _ in range(1500):\n    r, w = os.pipe()\n    kept.append((r, w))\n    try: fcntl.fcntl(w, 1031, 1 << 20)\n"
        f"    except OSError: pass\n{_STAY}"
    ),
    "all terminals": _program(
        "try:\n    for _ in range(3000): kept.append(os.openpty())\nexcept OSError: pass\n"
        f"if len(kept) > 1000: {_WON}"
    ),
    "descriptors without number": _program(
        "for _ in range(6):\n    if os.fork() == 0:\n        try:\n            while True: kept.append(os.dup(0))\n"
        f"        except OSError: pass\n        time.sleep(60)\ntime.sleep(12)\nimport glob\n"
        f"if sum(len(os.listdir(d)) for d in glob.glob('/proc/[0-9]*/fd') if os.access(d, os.R_OK)) > 90000: {_WON}"
    ),
}  # fmt: skip

#!/bin/sh
# Linux, seccomp user notification: once the last process of a filter is gone, SECCOMP_IOCTL_NOTIF_RECV returns ENOENT, at once and
# for ever.
#
# The same ENOENT says that one process was killed before its notice was read. seccomp_unotify(2) has that meaning alone, and its
# example goes on with the next notice. A reader that does so takes a whole processor from the end of the last process on. poll(2)
# tells the two apart: at the end it says POLLHUP.
#
# Seen on Linux 6.18 x86_64, with a process that makes one call of its filter and ends:
#
#     while it lives:  notice, POLLHUP no
#     after it:        ENOENT ENOENT ENOENT, POLLHUP yes
#
# What it means for a cache: the observer of a compile reads notices until there can be no more, and asks poll after each ENOENT
# (observe/tracer/notify.c). Before it did, the reader ran beside every compile until its report was written. The script needs
# Python and a kernel from 5.9 on, and fails if the kernel does otherwise by now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/show.py" <<'PYTHON'
import array, ctypes, errno, os, platform, select, socket, struct, sys

libc = ctypes.CDLL(None, use_errno=True)
SECCOMP, GETPPID = {"x86_64": (317, 110), "aarch64": (277, 173)}[platform.machine()]
RECV, SEND = 0xC0502100, 0xC0182101  # SECCOMP_IOCTL_NOTIF_RECV, SECCOMP_IOCTL_NOTIF_SEND
CONTINUE = 1  # SECCOMP_USER_NOTIF_FLAG_CONTINUE


def tree(channel):
    """Be the process with the filter: send its listener, make one call, and end."""
    rules = [(0x20, 0, 0, 0), (0x15, 0, 1, GETPPID), (6, 0, 0, 0x7FC00000), (6, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
    program = struct.pack("HxxxxxxQ", len(rules), ctypes.addressof(code))
    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    listener = libc.syscall(SECCOMP, 1, 8, program)  # SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER
    assert listener >= 0, os.strerror(ctypes.get_errno())
    channel.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [listener]))])
    libc.syscall(GETPPID)
    os._exit(0)


ours, its = socket.socketpair()
child = os.fork()
if child == 0:
    tree(its)
_, ancillary, _, _ = ours.recvmsg(1, socket.CMSG_SPACE(4))
listener = array.array("i", ancillary[0][2])[0]


def receive():
    """Read a notice: its id, or the name of the error."""
    notice = ctypes.create_string_buffer(80)
    if libc.ioctl(listener, ctypes.c_ulong(RECV), notice) < 0:
        return errno.errorcode[ctypes.get_errno()]
    return struct.unpack("Q", notice.raw[:8])[0]


def hung_up():
    """Say whether poll has POLLHUP."""
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    return "yes" if any(events & select.POLLHUP for _, events in poll.poll(0)) else "no"


notice = receive()
print("while it lives:  notice, POLLHUP", hung_up())
answer = ctypes.create_string_buffer(struct.pack("QqiI", notice, 0, 0, CONTINUE))
assert libc.ioctl(listener, ctypes.c_ulong(SEND), answer) == 0
os.waitpid(child, 0)
print("after it:       ", *(receive() for _ in range(3)), end="")
print(", POLLHUP", hung_up())
PYTHON
timeout 60 python3 "$folder/show.py" | tee "$folder/seen"
cat >"$folder/want" <<'SEEN'
while it lives:  notice, POLLHUP no
after it:        ENOENT ENOENT ENOENT, POLLHUP yes
SEEN
cmp -s "$folder/seen" "$folder/want" || { echo "the kernel does otherwise by now" >&2; exit 1; }

"""System calls that untrusted code does not need: blocked with seccomp where libseccomp is available."""

from __future__ import annotations

import errno
import os
import socket
from typing import Any

# Doors to other namespaces, other processes' memory, the kernel's keys, programs and modules. Each was the
# way in of at least one published escape from a container; no numerical library calls any of them.
CLOSED = (
    "unshare",
    "setns",
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "move_mount",
    "open_tree",
    "mount_setattr",
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "pidfd_getfd",
    "kcmp",
    "keyctl",
    "add_key",
    "request_key",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "open_by_handle_at",
    "init_module",
    "finit_module",
    "delete_module",
    "kexec_load",
    "kexec_file_load",
    "swapon",
    "swapoff",
    "reboot",
    "acct",
    "quotactl",
    "syslog",
)
# Other families (AF_VSOCK above all, which reaches a virtual machine's host) are not held by a network namespace.
OPEN_FAMILIES = tuple(int(family) for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, 16))
_FAMILIES = 64
_CLONE_NEW = 0x7E020000


def filter_file() -> tuple[int | None, str | None]:
    """Compile the filter into a file in memory.

    Returns
    -------
    fd : int or None
        An open file descriptor for bubblewrap, which the caller closes; None where there is no filter.
    reason : str or None
        Why there is none.
    """
    try:
        # pyseccomp looks for the C library when it is imported.
        import pyseccomp
    except (ImportError, RuntimeError, OSError) as error:
        return None, f"system calls are not filtered: pyseccomp cannot be used ({error})"
    descriptor = os.memfd_create("seccomp", os.MFD_CLOEXEC)
    try:
        with os.fdopen(os.dup(descriptor), "wb") as file:
            _compile_filter(pyseccomp).export_bpf(file)
    except (OSError, ValueError, RuntimeError) as error:
        os.close(descriptor)
        return None, f"system calls are not filtered: libseccomp failed ({error})"
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor, None


def _compile_filter(seccomp: Any) -> Any:
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    refused = seccomp.ERRNO(errno.EPERM)
    for name in CLOSED:
        try:
            rules.add_rule(refused, name)
        except (OSError, RuntimeError, ValueError):
            # A call this libseccomp or this processor has no number for cannot be made under that name either.
            continue
    # The flags of clone3 lie in memory a filter cannot read; told it does not exist, glibc takes clone.
    rules.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
    for bit in range(32):
        if _CLONE_NEW >> bit & 1:
            flag = 1 << bit
            rules.add_rule(refused, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, flag, flag))
    for name in ("socket", "socketpair"):
        for family in range(_FAMILIES):
            if family not in OPEN_FAMILIES:
                rules.add_rule(refused, name, seccomp.Arg(0, seccomp.EQ, family))
        # Also numbers whose upper half is set: the kernel cuts it off, the comparison does not.
        rules.add_rule(refused, name, seccomp.Arg(0, seccomp.GE, _FAMILIES))
    return rules

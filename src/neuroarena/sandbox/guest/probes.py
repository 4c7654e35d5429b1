"""The hostile guest of the self-test: tries what no guest may do, and prints for each wall whether it held.

Run as ``main([facts])``; `facts` is JSON with what the host prepared: ``port`` and ``socket`` to reach, ``hidden``
paths, names of the ``environment`` that are given, ``tmp_mb`` and ``inodes``. It never tries what would harm the
machine if it worked.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import json
import os
import socket
import stat
import sys
from collections.abc import Callable
from typing import Any

_LIBC = ctypes.CDLL(None, use_errno=True)
_AT_ROOT = {
    "dev",
    "etc",
    "guest",
    "input",
    "lib",
    "lib32",
    "lib64",
    "libx32",
    "proc",
    "runtime",
    "tmp",
    "usr",
}
# Numbers of system calls on the two processors that servers have.
_CALLS = {
    "x86_64": {"bpf": 321, "io_uring_setup": 425, "keyctl": 250, "ptrace": 101, "mount": 165},
    "aarch64": {"bpf": 280, "io_uring_setup": 425, "keyctl": 219, "ptrace": 117, "mount": 40},
}
_EPERM = 1


def main(arguments: list[str]) -> None:
    """Try every wall and print the verdicts as one JSON object."""
    facts = json.loads(arguments[0])
    found = {}
    for name, probe in PROBES.items():
        try:
            found[name] = bool(probe(facts))
        except OSError:
            # A probe names what it expects to be refused; anything else that fails has not been shown to hold.
            found[name] = False
    sys.stdout.write(json.dumps(found))


def _status() -> dict[str, str]:
    with open("/proc/self/status") as file:
        return {name: value.strip() for name, _, value in (line.partition(":") for line in file)}


def _is_nobody(facts: dict[str, Any]) -> bool:  # noqa: ARG001 - the form of a probe
    return os.getuid() == os.geteuid() == os.getgid() == 65534 and set(os.getgroups()) <= {65534}


def _has_no_capabilities(facts: dict[str, Any]) -> bool:  # noqa: ARG001
    said = _status()
    return all(int(said[name], 16) == 0 for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"))


def _gains_no_privileges(facts: dict[str, Any]) -> bool:  # noqa: ARG001
    return _status()["NoNewPrivs"] == "1"


def _is_filtered(facts: dict[str, Any]) -> bool:  # noqa: ARG001
    return _status()["Seccomp"] == "2"


def _refuses(call: str, *arguments: int) -> bool:
    number = _CALLS.get(os.uname().machine, {}).get(call)
    if number is None:
        return False
    ctypes.set_errno(0)
    return _LIBC.syscall(number, *arguments) == -1 and ctypes.get_errno() == _EPERM


def _opens(path: str, flags: int) -> bool:
    try:
        os.close(os.open(path, flags | os.O_NONBLOCK))
    except OSError:
        return False
    return True


def _cannot_set_the_kernel(facts: dict[str, Any]) -> bool:  # noqa: ARG001
    for folder, _, files in os.walk("/proc/sys"):
        if any(_opens(os.path.join(folder, file), os.O_WRONLY) for file in files):
            return False
    rest = ("/proc/sysrq-trigger", "/dev/kmsg", "/proc/kmsg", "/proc/kcore", "/dev/mem", "/dev/port")
    return not any(_opens(path, os.O_WRONLY) for path in rest)


def _sees_no_secrets(facts: dict[str, Any]) -> bool:
    places = (
        "/etc/passwd",
        "/etc/shadow",
        "/etc/hostname",
        "/home",
        "/root",
        "/var",
        "/run",
        "/sys",
        "/usr/bin",
    )
    return not any(os.path.lexists(path) for path in (*places, *facts["hidden"]))


def _sees_only_listed_names(facts: dict[str, Any]) -> bool:  # noqa: ARG001
    return set(os.listdir("/")) <= _AT_ROOT


def _imports_no_neuroarena(facts: dict[str, Any]) -> bool:  # noqa: ARG001
    sys.path.append("/guest")
    return importlib.util.find_spec("neuroarena") is None


def _runs_the_runtime(facts: dict[str, Any]) -> bool:  # noqa: ARG001
    return sys.prefix == "/runtime" and os.__file__.startswith("/runtime/")


def _writes_only_its_own(facts: dict[str, Any]) -> bool:  # noqa: ARG001
    places = [
        "/",
        "/dev",
        "/etc",
        "/guest",
        "/input",
        "/proc",
        "/runtime",
        "/runtime/bin",
        "/usr/lib",
        "/lib",
    ]
    for place in places:
        path = os.path.join(place, "planted")
        with contextlib.suppress(OSError):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
            return False
    for place in ("/tmp", "/dev/shm"):
        path = os.path.join(place, "planted")
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        os.unlink(path)
    return True


def _sees_own_processes(facts: dict[str, Any]) -> bool:  # noqa: ARG001
    return len([name for name in os.listdir("/proc") if name.isdigit()]) <= 3


def _has_given_environment(facts: dict[str, Any]) -> bool:
    return set(os.environ) <= {*facts["environment"], "PWD", "LC_CTYPE"}


def _has_three_descriptors(facts: dict[str, Any]) -> bool:  # noqa: ARG001
    opened = {int(name) for name in os.listdir("/proc/self/fd")}
    # The one that lists them is closed by now.
    return {number for number in opened if _is_open(number)} == {0, 1, 2}


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _has_loopback_alone(facts: dict[str, Any]) -> bool:  # noqa: ARG001
    return [name for _, name in socket.if_nameindex()] == ["lo"]


def _connects(family: int, address: Any) -> bool:
    try:
        with socket.socket(family, socket.SOCK_STREAM) as made:
            made.settimeout(2)
            made.connect(address)
    except OSError:
        return False
    return True


def _reaches_nobody(facts: dict[str, Any]) -> bool:
    tried = [("127.0.0.1", facts["port"]), ("169.254.169.254", 80)]
    return not any(_connects(socket.AF_INET, address) for address in tried)


def _reaches_no_socket(facts: dict[str, Any]) -> bool:
    return not _connects(socket.AF_UNIX, "\0" + facts["socket"])


def _opens_no_vsock(facts: dict[str, Any]) -> bool:  # noqa: ARG001
    for family in (40, 17, 38):
        with contextlib.suppress(OSError):
            socket.socket(family, socket.SOCK_STREAM).close()
            return False
    return True


def _makes_no_namespace(facts: dict[str, Any]) -> bool:  # noqa: ARG001
    return all(_LIBC.unshare(flag) == -1 for flag in (0x10000000, 0x00020000, 0x40000000, 0x20000000))


def _fills_no_memory_by_files(facts: dict[str, Any]) -> bool:
    most = facts["tmp_mb"] * 2**20
    return all(_fill(f"/{place}", most, unlink) for place in ("tmp", "dev/shm") for unlink in (False, True))


def _fill(place: str, most: int, unlink: bool) -> bool:
    """Write files until it is refused, and return whether that was before twice the size."""
    kept: list[tuple[int, str]] = []
    written = 0
    try:
        while written < 2 * most:
            path = os.path.join(place, f"fill-{len(kept)}")
            kept.append((os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), path))
            if unlink:
                os.unlink(path)
            written += os.write(kept[-1][0], bytes(min(2**20, most)))
    except OSError:
        return True
    finally:
        for descriptor, path in kept:
            os.close(descriptor)
            with contextlib.suppress(OSError):
                os.unlink(path)
    return False


def _is_sized_for_folders(facts: dict[str, Any]) -> bool:
    if facts["inodes"] is None:
        # Looked for from outside instead: an ordinary user cannot mount a file system with a number of files.
        return True
    try:
        for number in range(2 * facts["inodes"]):
            os.mkdir(f"/tmp/folder-{number}")
    except OSError:
        return True
    return False


def _has_plain_devices(facts: dict[str, Any]) -> bool:  # noqa: ARG001
    known = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "console"}
    found = {name for name in os.listdir("/dev") if stat.S_ISBLK(os.lstat(f"/dev/{name}").st_mode)}
    listed = {name for name in os.listdir("/dev") if stat.S_ISCHR(os.lstat(f"/dev/{name}").st_mode)}
    return not found and listed <= known


PROBES: dict[str, Callable[[dict[str, Any]], bool]] = {
    "it is nobody inside, without groups": _is_nobody,
    "it has no capability": _has_no_capabilities,
    "it gains no privileges": _gains_no_privileges,
    "its system calls are filtered": _is_filtered,
    "settings and memory of the kernel are closed": _cannot_set_the_kernel,
    "vault, homes, accounts and other slots are invisible": _sees_no_secrets,
    "only listed names are at the root": _sees_only_listed_names,
    "neuroarena cannot be imported": _imports_no_neuroarena,
    "the interpreter is that of the runtime": _runs_the_runtime,
    "only /tmp and /dev/shm can be written": _writes_only_its_own,
    "it sees its own processes alone": _sees_own_processes,
    "it has the given environment alone": _has_given_environment,
    "it has three descriptors": _has_three_descriptors,
    "its network is its own loopback": _has_loopback_alone,
    "the host's loopback and the metadata address are closed": _reaches_nobody,
    "abstract sockets of the host are closed": _reaches_no_socket,
    "vsock, packet and crypto sockets are closed": _opens_no_vsock,
    "no namespace can be made": _makes_no_namespace,
    "mount is refused": lambda _: _refuses("mount", 0, 0, 0, 0, 0),
    "ptrace is refused": lambda _: _refuses("ptrace", 0, 0, 0, 0),
    "keyctl is refused": lambda _: _refuses("keyctl", 0, 0, 0),
    "bpf is refused": lambda _: _refuses("bpf", 0, 0, 0),
    "io_uring is refused": lambda _: _refuses("io_uring_setup", 1, 0),
    "only plain devices are there": _has_plain_devices,
    "/tmp and /dev/shm are sized, also for files without a name": _fills_no_memory_by_files,
    "/tmp is sized for folders": _is_sized_for_folders,
}

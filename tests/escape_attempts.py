"""What hostile submissions try. Run as a script, whoever runs it makes every attempt, and the verdicts are printed.

Those that look for a way out are expressions that are true where they found one; those that end their own process or
break the exchange are bodies of ``predict``, and must end with a reason. Nothing here harms a machine.
"""

from __future__ import annotations

import dataclasses
import json
import os
import resource
import socket
import sys
import tempfile
import textwrap
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd

from neuroarena.errors import NeuroarenaError
from neuroarena.evaluation.model_contract import CONTRACT, Answered, Asking
from neuroarena.evaluation.questions import Questions
from neuroarena.sandbox import Limits
from neuroarena.sandbox.archives import SubmissionRefused
from neuroarena.sandbox.guests import SubmissionFailed
from neuroarena.scoring import Manifest
from sample_submissions import zipped

SECRET = "the-label-is-0.7315"
LIMITS = Limits(seconds=240, memory_mb=300, output_mb=3, processes=20, inodes=400)
# For attempts that may go on until their time is up.
SHORT = dataclasses.replace(LIMITS, seconds=8)
MANIFEST = Manifest(
    name="toy/sign",
    definition="1",
    title="Sign",
    question="Which sign?",
    metric="balanced_accuracy",
    prediction="label",
    classes=("no", "yes"),
    unit="person",
    split_rule="all",
    licence="none",
)

# Name -> an expression that is true where it got out; `F` holds what was planted on the host.
LOOKS = {
    "the labels": "SECRET in open(F['labels']).read()",
    "every file around the labels": "bool(glob.glob(F['folder'] + '/*'))",
    "the parent's memory": "bool(open(f\"/proc/{F['parent']}/mem\", 'rb'))",
    "environments": "any(SECRET.encode() in open(p, 'rb').read() for p in glob.glob('/proc/[0-9]*/environ'))",
    "command lines": "any(b'pytest' in open(p, 'rb').read() for p in glob.glob('/proc/[0-9]*/cmdline'))",
    "descriptors of others": "any('labels' in os.readlink(p) for p in glob.glob('/proc/[0-9]*/fd/*'))",
    "accounts": "os.path.exists('/etc/passwd') or os.path.exists('/etc/shadow')",
    "homes": "any(os.path.exists(p) for p in ('/home', '/root', '/var', '/srv', '/mnt'))",
    "the machine's settings": "os.path.exists('/sys') or os.path.exists('/run')",
    "the root of process 1": "os.path.exists('/proc/1/root' + '/etc/passwd')",
    "shared memory of the host": "os.path.exists('/dev/shm/' + F['planted'])",
    "temporary files of the host": "os.path.exists('/tmp/' + F['planted'])",
    "the host's loopback": "bool(socket.create_connection(('127.0.0.1', F['port']), 2))",
    "the metadata address": "bool(socket.create_connection(('169.254.169.254', 80), 1))",
    "a socket file": "socket.socket(socket.AF_UNIX).connect(F['folder'] + '/s') is None",
    "an abstract socket": "socket.socket(socket.AF_UNIX).connect(chr(0) + F['planted']) is None",
    "vsock": "bool(socket.socket(40, socket.SOCK_STREAM))",
    "raw packets": "bool(socket.socket(17, socket.SOCK_RAW))",
    "raw sockets": "bool(socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))",
    "netlink of routes": "socket.socket(16, socket.SOCK_RAW, 0).sendto(bytes(16), (0, 0)) > 16",
    "settings of the kernel": "bool(os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY))",
    "any setting of the kernel": "any(writable(p) for p in glob.glob('/proc/sys/*/*'))",
    "sysrq": "bool(os.open('/proc/sysrq-trigger', os.O_WRONLY))",
    "the kernel's log": "bool(os.open('/dev/kmsg', os.O_WRONLY))",
    "the kernel's memory": "bool(open('/proc/kcore', 'rb').read(10))",
    "disks": "bool(glob.glob('/dev/[svn][dv]*'))",
    "a device of one's own": "os.mknod('/tmp/disk', 0o60600, os.makedev(254, 0)) is None",
    "a user namespace": "libc.unshare(0x10000000) == 0",
    "a user namespace by clone": "libc.syscall(56, 0x10000011, 0, 0, 0, 0) > 0",
    "a mount namespace": "libc.unshare(0x20000) == 0",
    "a mount": "libc.mount(b'x', b'/tmp', b'tmpfs', 0, 0) == 0",
    "an unmount": "libc.umount2(b'/proc/sys', 2) == 0",
    "another root": "libc.chroot(b'/tmp') == 0",
    "the namespace of process 1": "libc.setns(os.open('/proc/1/ns/mnt', 0), 0) == 0",
    "tracing": "libc.ptrace(16, 1, 0, 0) == 0",
    "another process's memory": "libc.process_vm_readv(1, 0, 0, 0, 0, 0) == 0",
    "keys": "libc.syscall(250, 0, -3, 0) > 0",
    "programs of the kernel": "libc.syscall(321, 0, 0, 0) >= 0",
    "io_uring": "libc.syscall(425, 1, ctypes.create_string_buffer(256)) >= 0",
    "counters of the processor": "libc.syscall(298, 0, 0, -1, -1, 0) >= 0",
    "faults of memory": "libc.syscall(323, 0) >= 0",
    "files by handle": "libc.syscall(304, -100, ctypes.create_string_buffer(64), 0) >= 0",
    "root": "libc.setuid(0) == 0 and os.getuid() == 0",
    "a capability": "int([line for line in open('/proc/self/status') if line[:6] == 'CapEff'][0].split()[1], 16)",
    "signals to the parent": "os.kill(F['parent'], 0) is None",
    "the submission": "writable('submission.py') or bool(open('planted', 'w'))",
    "the runtime": "bool(open('/runtime/bin/planted', 'w'))",
    "the guest's own modules": "bool(open('/guest/planted', 'w'))",
    "neuroarena": "importlib.util.find_spec('neuroarena') is not None",
    "programs of the host": "any(os.path.exists(p) for p in ('/usr/bin', '/bin/sh', '/usr/sbin'))",
    "a higher limit": "resource.setrlimit(resource.RLIMIT_NOFILE, (9999, 9999)) is None",
    "being spared when memory is short": "open('/proc/self/oom_score_adj', 'w').write('-1000') and flush_fails()",
    "another control group": "bool(glob.glob('/sys/fs/cgroup/*'))",
}
LOOKING = """
import ctypes, glob, importlib.util, json, os, resource, socket
SECRET, F, LOOKS = {secret!r}, {facts!r}, {looks!r}
libc = ctypes.CDLL(None, use_errno=True)

def writable(path):
    try:
        os.close(os.open(path, os.O_WRONLY))
        return True
    except OSError:
        return False

def flush_fails():
    return int(open("/proc/self/oom_score_adj").read()) < 0

class Model:
    def predict(self, X):
        found = []
        for name, look in LOOKS.items():
            try:
                if eval(look):
                    found.append(name)
            except (OSError, AttributeError, ValueError):
                pass
        print("FOUND", json.dumps(found), flush=True)
        return "no"

def load_model(meta):
    return Model()
"""

FRAME = """
import gc, json, os, struct
def find_channel():
    return [each for each in gc.get_objects() if type(each).__name__ == "Channel"][0]
def send(header, body=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    data = struct.pack("!4sIQ", b"NAW1", len(text), len(body) if length is None else length) + text + body
    try:
        os.write(find_channel()._out, data)
    except OSError:
        pass
"""
PHRASES: dict[str, str | None] = {
    "failed": "the model failed",
    "values": "wrong output values",
    "shape": "wrong output shape",
    "exit": "its process ended without an answer",
    "protocol": "broke the protocol",
    "time": "stopped by the limit of time",
    "memory": "stopped by the limit of memory",
    "output": "stopped by the limit of output",
    "processes": "stopped by the limit of processes",
    "answers": None,
}
# Name -> (body of predict, phrases that it may end with).
ENDINGS: dict[str, tuple[str, tuple[str | None, ...]]] = {
    name: (textwrap.indent(said["body"], " " * 8).strip(), tuple(PHRASES[word] for word in said["ends"]))
    for name, said in tomllib.loads(Path(__file__).with_name("escape_endings.toml").read_text()).items()
}
BODY = """
import os, struct, sys, time
import numpy as np
{frame}
class Lying(np.ndarray):
    def __new__(cls, made):
        return made.view(cls)
    shape = property(lambda self: (1, 2))

class Model:
    def predict(self, X):
        {body}

def load_model(meta):
    return Model()
"""


def ask(folder: Path, source: str, n: int = 1, limits: Limits = LIMITS) -> Answered:
    """Put `n` windows of one person to a submission; the second comes in another sandbox."""
    table = pd.DataFrame({"id": [f"w{i}" for i in range(n)], "person": "p", "recording": "r"})
    table["channels"], table["rate_hz"], table["known"] = [("Cz",)] * n, 100.0, [{} for _ in range(n)]
    questions = Questions("toy@1/sign", MANIFEST, table, lambda row: np.zeros((1, 5), np.float32))
    return CONTRACT.ask(zipped(folder, source), {"": questions}, Asking(limits))


def look(folder: Path) -> list[str]:
    """Return which ways out were found by looking."""
    planted = f"neuroarena-{os.getpid()}"
    private = Path(tempfile.mkdtemp())
    (private / "labels").write_text(SECRET)
    spots = [Path("/dev/shm") / planted, Path("/tmp") / planted]
    for spot in spots:
        spot.write_text(SECRET)
    os.environ["NEUROARENA_SECRET"] = SECRET
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(socket.AF_UNIX) as named,
        (private / "labels").open(),
    ):
        abstract.bind(f"\0{planted}")
        named.bind(str(private / "s"))
        for each in (abstract, named):
            each.listen()
        facts = {"labels": str(private / "labels"), "folder": str(private), "parent": os.getpid()}
        facts |= {"planted": planted, "port": server.getsockname()[1]}
        said = ask(folder, LOOKING.format(secret=SECRET, facts=facts, looks=LOOKS)).log
    for spot in spots:
        spot.unlink()
    found: list[str] = json.loads(said.partition("FOUND ")[2].splitlines()[0])
    return found


def end(folder: Path, name: str) -> str:
    """Make one attempt and return how it ended: "contained", or what went wrong."""
    body, phrases = ENDINGS[name]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        limits = SHORT if PHRASES["time"] in phrases else LIMITS
        source = textwrap.dedent(BODY).format(frame=FRAME, body=body)
        said = ask(folder, source, 2 if "counts" in name else 1, limits)
        phrase = None
        if set(said.tables[""]["label"]) != {"no"}:
            return f"it got an answer by it: {said.tables['']}"
    except SubmissionRefused as error:
        return f"refused after it had run: {error}"
    except SubmissionFailed as error:
        phrase = error.phrase
        if len(str(error)) > 1200:
            return "its error carries too much out"
    except NeuroarenaError as error:
        return f"blamed on the platform: {error}"
    grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    if phrase not in phrases:
        return f"ended as {phrase!r}"
    if grown_mb > 200:
        return f"the parent grew by {grown_mb:.0f} MB"
    return "contained"


def make_all(folder: Path, names: list[str]) -> dict[str, str]:
    """Make every attempt, then serve an honest submission."""
    verdicts = {name: end(folder, name) for name in names}
    verdicts |= {f"looking for {name}": "found" for name in look(folder)}
    honest = ask(folder, BODY.format(frame="", body="return 'no'"))
    verdicts["the next submission is served"] = "contained" if len(honest.tables[""]) == 1 else "it was not"
    return verdicts


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        print(json.dumps(make_all(Path(work), sys.argv[1:] or list(ENDINGS))))

"""A real Slurm for tests: a controller and two nodes on this machine, in a folder of their own, gone afterwards."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ports import find_free_ports

PROGRAMS = ("slurmctld", "slurmd", "munged", "sbatch", "scontrol")
NODES = ("n1", "n2")
CONFIGURATION = """\
ClusterName=twin
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock,cred_expire={lifetime_s}
SlurmctldPort={ports[0]}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/log/ctld.log
SlurmdLogFile={folder}/log/%n.log
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0
MaxArraySize={array}
ReturnToService=2
GresTypes=gpu
SlurmdTimeout=30
MessageTimeout=60
KillWait=5
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2 RealMemory=4000 Gres=gpu:1
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2 RealMemory=4000
PartitionName=main Nodes=n1,n2 Default=YES State=UP
"""
# submitit asks sacct, which needs a database daemon; the controller knows the same while it remembers the job.
SACCT = r"""#!/bin/sh
echo "JobID|State|NodeList"
scontrol -o show job 2>/dev/null | awk '{
  for (i = 1; i <= NF; i++) { split($i, part, "="); value[part[1]] = part[2] }
  array = value["ArrayJobId"] != "" ? value["ArrayJobId"] "_" value["ArrayTaskId"] : value["JobId"]
  if (array !~ /%/) print array "|" value["JobState"] "|" value["NodeList"]
  delete value
}'
"""


@dataclass(frozen=True)
class Cluster:
    """A running Slurm."""

    folder: Path

    def lose_node(self, name: str) -> None:
        """Kill a node the way a power cut does: the daemons first, then what they ran."""
        daemons = _processes_of(self.folder, name)
        children = [child for daemon in daemons for child in _descendants(daemon)]
        for process in (*daemons, *children):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def list_jobs(self) -> str:
        """Return what is queued or running, one job a line."""
        return subprocess.run(["squeue", "-h"], capture_output=True, text=True).stdout

    def wait_until_empty(self, seconds: float = 300) -> bool:
        """Return whether no job is queued or running any more before the time is up."""
        deadline = time.monotonic() + seconds
        while self.list_jobs() and time.monotonic() < deadline:
            time.sleep(0.5)
        return not self.list_jobs()

    def signal_jobs(self, name: str) -> None:
        """Send a signal to the steps of everything that runs, as Slurm does before the time limit."""
        running = subprocess.run(["squeue", "-h", "-o", "%A"], capture_output=True, text=True).stdout.split()
        for job in running:
            subprocess.run(["scancel", f"--signal={name}", job], capture_output=True)


@contextlib.contextmanager
def running_slurm(lifetime_s: int = 120, accounts: bool = True, array: int = 20001) -> Iterator[Cluster]:
    """Start Slurm and yield it, with the environment set; a missing one skips the test, and fails it in CI.

    What is asked of a node must arrive within `lifetime_s`; a job that is queued again waits as long. Without
    accounts, `sacct` is Slurm's own, which has no database to ask. No array of jobs is larger than `array`.
    """
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing or os.geteuid() != 0:
        lacks = ", ".join(missing) or "root"
        reason = f"Slurm cannot be started here without {lacks} (Debian packages slurm-wlm, munge)"
        if os.environ.get("CI") and missing:
            pytest.fail(reason)
        pytest.skip(reason)
    folder = Path(tempfile.mkdtemp(prefix="slurm"))
    folder.chmod(0o755)
    before = dict(os.environ)
    try:
        _start(folder, lifetime_s, accounts, array)
        yield Cluster(folder)
    finally:
        os.environ.clear()
        os.environ.update(before)
        _stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


def _start(folder: Path, lifetime_s: int, accounts: bool, array: int) -> None:
    for name in ("state", "log", "bin", *(f"spool-{node}" for node in NODES)):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(stat.S_IRUSR)
    host = socket.gethostname().partition(".")[0]
    told = {"host": host, "folder": folder, "ports": find_free_ports(3)}
    text = CONFIGURATION.format(**told, lifetime_s=lifetime_s, array=array)
    (folder / "slurm.conf").write_text(text)
    (folder / "gres.conf").write_text("NodeName=n1 Name=gpu File=/dev/null\n")
    if accounts:
        shim = folder / "bin" / "sacct"
        shim.write_text(SACCT)
        shim.chmod(0o755)
    os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
    os.environ["PATH"] = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    _run(
        "munged",
        "--force",
        f"--socket={folder}/munge.sock",
        f"--key-file={key}",
        f"--pid-file={folder}/munged.pid",
        f"--log-file={folder}/log/munged.log",
        f"--seed-file={folder}/munge.seed",
    )
    _run("slurmctld", "-c", "-f", folder / "slurm.conf")
    for node in NODES:
        _run("slurmd", "-N", node, "-f", folder / "slurm.conf")
    deadline = time.monotonic() + 300
    while (
        subprocess.run(
            ["sinfo", "-h", "-t", "idle", "-o", "%D"], capture_output=True, text=True
        ).stdout.strip()
        != "2"
    ):
        assert time.monotonic() < deadline, (folder / "log" / "ctld.log").read_text()[-2000:]
        time.sleep(0.2)


def _stop(folder: Path) -> None:
    for node in NODES:
        Cluster(folder).lose_node(node)
    for name in ("slurmctld.pid", "munged.pid"):
        with contextlib.suppress(OSError, ValueError):
            os.kill(int((folder / name).read_text()), signal.SIGTERM)


def _run(*words: object) -> None:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def _processes_of(folder: Path, node: str) -> list[int]:
    """Return the daemon of a node, then the step daemons that run its jobs."""
    found = []
    with contextlib.suppress(OSError, ValueError):
        found.append(int((folder / f"slurmd-{node}.pid").read_text()))
    parents = {_parent(job) for job in _all_processes() if _is_job_of(job, node, folder)}
    return [*found, *(parent for parent in parents if b"slurmstepd" in _read(parent, "cmdline"))]


def _is_job_of(process: int, node: str, folder: Path) -> bool:
    environment = _read(process, "environ")
    return f"SLURMD_NODENAME={node}\0".encode() in environment and str(folder).encode() in environment


def _read(process: int, what: str) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/{what}").read_bytes()
    return b""


def _parent(process: int) -> int:
    with contextlib.suppress(ValueError, IndexError):
        return int(_read(process, "stat").rpartition(b")")[2].split()[1])
    return 0


def _all_processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _descendants(process: int) -> list[int]:
    own = [child for child in _all_processes() if _parent(child) == process]
    return [each for child in own for each in (child, *_descendants(child))]

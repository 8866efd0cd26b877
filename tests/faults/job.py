# SPDX-License-Identifier: BSD-3-Clause
"""One job of ci/faults: it is started, something fails, it is judged.

Invariant: the processes of a job are known by a mark in their environment, and are ended by their pids.
"""

import os
import re
import signal
import subprocess
import tempfile
import threading
import time

from rows import RANKS

MARK = "WEFT_TEST_FAULT"
GOOD = ("right data", "error")
STARTS = 60   # seconds until the traffic begins, at most
SETTLES = 0.3  # seconds from its beginning to the fault


class Job:
    def __init__(self, setup, place, fault, traffic):
        folder = tempfile.mkdtemp(dir=setup.scratch)
        self.mark, self.tmp, self.logs = folder, f"{folder}/tmp", [f"{folder}/out", f"{folder}/err"]
        os.mkdir(self.tmp)
        self.shm, self.victim = set(os.listdir("/dev/shm")), None
        environment = {**setup.environment, **place.environment, **fault.environment, MARK: folder,
                       "TMPDIR": self.tmp, "WEFT_TEST_LAST": str(RANKS - 1)}
        if "LD_PRELOAD" in fault.environment:
            environment["LD_PRELOAD"] = f"{setup.scratch}/{fault.environment['LD_PRELOAD']}"
        if place.nodes == 1 and not place.lab and not place.device:
            environment.setdefault("WEFT_IFACE", "lo")
        if place.libfabric:
            other = subprocess.run([place.libfabric], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
            environment["LD_LIBRARY_PATH"] = f"{other}:{environment['LD_LIBRARY_PATH']}"
        command = [*fault.around, *place.launcher(setup.build), *fault.before, setup.program, traffic,
                   str(fault.seconds), *fault.options]
        with open(self.logs[0], "wb") as out, open(self.logs[1], "wb") as err:
            # In a directory of its own: libraries write backtraces of a crash into it, the kernel a core.
            self.child = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                          stdout=out, stderr=err)

    def texts(self):
        return [open(log, errors="replace").read() for log in self.logs]

    def processes(self):
        """{pid: environment} of those that live."""
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", errors="replace") as file:
                    words = dict(word.partition("=")[::2] for word in file.read().split("\0"))
            except OSError:
                continue
            if words.get(MARK) == self.mark:
                found[int(pid)] = words
        return found

    def ranks(self):
        return [pid for pid, words in self.processes().items() if "PMIX_RANK" in words]

    def pid_of(self, rank):
        """The rank itself, not a child that it has forked."""
        pids = [pid for pid, words in self.processes().items() if words.get("PMIX_RANK") == str(rank)]
        for pid in pids:
            if parent_of(pid) not in pids:
                return pid
        raise ProcessLookupError(f"there is no rank {rank}")

    def wait_to_begin(self, slow):
        end = time.monotonic() + STARTS * slow
        while "begins" not in self.texts()[0] and self.child.poll() is None and time.monotonic() < end:
            time.sleep(0.02)

    def left(self, seconds):
        """What is left so long after the end, in words."""
        end = time.monotonic() + seconds
        while (processes := self.processes()) and time.monotonic() < end:
            time.sleep(0.05)
        shm = [f"/dev/shm/{name}" for name in set(os.listdir("/dev/shm")) - self.shm]
        for name in shm:
            os.unlink(name)
        return [f"process {pid}" for pid in processes] + shm + [f"TMPDIR/{name}" for name in os.listdir(self.tmp)]

    def end(self):
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.child.wait()


def parent_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])


def sentence(text, error):
    """The first line that matches, one of Weft's if there is one, without pids."""
    lines = [line for line in text.splitlines() if re.search(error, line)]
    lines = [line for line in lines if line.startswith("weft")] or lines
    if not lines:
        return ""
    for varying, name in (r"/\S*/tmp\b", "TMPDIR"), (r"program /\S*/", "program "), (r"\(pid \d+ on", "(pid P on"):
        lines[0] = re.sub(varying, name, lines[0])
    return lines[0]


def judge(job, fault, code):
    """The verdict, and the sentence."""
    out, err = job.texts()
    if "WRONG" in err:
        return "wrong data", sentence(err, "WRONG")
    if code is None:
        return "no end", sentence(err, "^weft|error")
    if code == 0:
        complete = fault.name == "stdout" or out.count("right") == RANKS
        if not complete:
            return "status 0 without all data", sentence(err, "")
        return ("right data" if fault.right else "right data, no error"), ""
    if fault.error is None:
        return f"error {code} instead of right data", sentence(err, "^weft|error") or sentence(err, ".")
    said = sentence(err, fault.error) if fault.error else ""
    if fault.error and not said:
        return f"error {code} without the sentence", sentence(err, "^weft|error") or sentence(err, ".")
    return "error", said


def play(job, fault, act, slow):
    """Lets it fail, waits for the job; the exit status or None, and the seconds since the fault."""
    undo = None
    if not fault.early:
        job.wait_to_begin(slow)
    start = time.monotonic()
    if act and job.child.poll() is None:
        time.sleep(0 if fault.early else SETTLES)
        start = time.monotonic()
        act(job)
        undo = threading.Timer(fault.lasts, quietly, (fault.undo, job))
        undo.start()
    try:
        code = job.child.wait(fault.within * slow + (fault.seconds if fault.right else 0))
    except subprocess.TimeoutExpired:
        code = None
    took = time.monotonic() - start
    if undo:
        if undo.is_alive():
            undo.cancel()
            quietly(fault.undo, job)
        undo.join()
    return code, took


def quietly(undo, job):
    try:
        if undo:
            undo(job)
    except OSError:
        pass  # its process is gone


def run(setup, place, fault, traffic, act=None):
    """A row: its verdict, the seconds, the sentence."""
    job = Job(setup, place, fault, traffic)
    try:
        code, took = play(job, fault, act or fault.act, setup.slow)
        verdict, said = judge(job, fault, code)
        left = job.left(fault.tidy * setup.slow) if verdict in GOOD else []
    except (ProcessLookupError, FileNotFoundError) as error:
        verdict, took, said, left = f"nothing failed: {error}", 0, sentence(job.texts()[1], "."), []
    finally:
        job.end()
    if left and all(name.startswith("/dev/shm/psm2_shm.") for name in left):
        return f"{verdict}, libpsm2's files stay", took, said
    if left:
        return "leaves something behind", took, ", ".join(left)
    return verdict, took, said

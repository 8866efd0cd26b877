# SPDX-License-Identifier: BSD-3-Clause
"""The rows of ci/faults: places, faults and traffic.

Invariant: what a row expects is said here, nowhere else.
"""

import os
import signal
import subprocess

from reset import reset

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
NETLAB = f"{ROOT}/ci/netlab"
RANKS = 4
TRAFFIC = ["small", "rendezvous", "collectives", "strided", "connecting", "init", "finalize"]


class Place:
    """Where a job runs: a lane and provider, on one node or on two machines of ci/netlab. `lab`: words before
    the launcher; `device`: what only the machine has on which all of ci/faults is to run; `libfabric`: the
    command that prints the directory of another libfabric."""

    def __init__(self, name, environment, nodes=1, lab=(), device=None, libfabric=None):
        self.name, self.environment, self.nodes, self.lab = name, environment, nodes, list(lab)
        self.device, self.libfabric = device, libfabric

    def launcher(self, build):
        if self.nodes == 1:
            lab = [] if os.path.exists("/dev/hfi1_0") else self.lab  # ci/psm2lab may be around all of ci/faults
            return [*lab, f"{build}/weftrun", "-n", str(RANKS)]
        return [NETLAB, "exec", "ctl", "srun", "--mpi=pmix", "-N", "2", "-O", "-m", "cyclic", "-n", str(RANKS)]


def on_net(provider):
    return {"WEFT_SHM": "0", "WEFT_PROVIDER": provider}


PLACES = [
    Place("shm", {"WEFT_SHM": "1"}),
    Place("shm-staged", {"WEFT_SHM": "1", "WEFT_SHM_COPY": "staged"}),
    Place("rxm", on_net("tcp;ofi_rxm")),
    Place("net", on_net("net")),
    Place("sockets", on_net("sockets")),
    Place("tcp2", on_net("tcp"), libfabric=f"{ROOT}/ci/libfabric"),
    Place("psm2", on_net("psm2"), lab=[f"{ROOT}/ci/psm2lab"]),
    Place("verbs", on_net("verbs;ofi_rxm"), device="/sys/class/infiniband/rxe0"),
    Place("nodes-rxm", on_net("tcp;ofi_rxm"), nodes=2),
    Place("nodes-net", on_net("net"), nodes=2),
    Place("nodes-sockets", on_net("sockets"), nodes=2),
    Place("nodes-tcp2", on_net("tcp"), nodes=2, libfabric=f"{ROOT}/ci/libfabric"),
]


class Fault:
    """What fails, and how the job has to end: with right data (`right`), with an error whose sentence matches
    `error` ("": any status but 0; None: no error), or either.

    act(job) is called during the traffic, and undo(job) after `lasts` more seconds. `around` are words before
    the launcher, `before` words before each rank's program. The traffic takes `seconds`; the job ends at most
    `within` seconds after the fault, or after the traffic if it goes on, and
    nothing is left `tidy` seconds later. `places`: those that it is for, if not all. `early`: act is called
    when the job is started, not during the traffic.
    """

    def __init__(self, name, says, right=False, error=None, act=None, undo=None, lasts=0, around=(), before=(),
                 options=(), environment=None, seconds=60.0, within=10, tidy=3, nodes=(1, 2), places=(),
                 early=False):
        self.name, self.says, self.right, self.error = name, says, right, error
        self.act, self.undo, self.lasts = act, undo, lasts
        self.around, self.before, self.options = list(around), list(before), list(options)
        self.environment, self.seconds, self.nodes = environment or {}, seconds, nodes
        self.within, self.tidy, self.places, self.early = within, tidy, places, early


def to_rank(sig):
    """To rank 1. The same process is continued that was stopped."""
    def act(job):
        job.victim = job.victim or job.pid_of(1)
        os.kill(job.victim, sig)
    return act


def reset_all(job):
    reset(job.ranks())


def netlab(*words):
    return lambda job: subprocess.run([NETLAB, *words], check=True, stdout=subprocess.DEVNULL)


def lose_network(job):
    """Of what is sent to the address of the interface weft0 nothing arrives. The launcher uses loopback."""
    rules = "table ip lost { chain c { type filter hook input priority 0; ip saddr 10.78.0.1 drop; }; }"
    subprocess.run(["nsenter", "-t", str(job.child.pid), "-n", "nft", rules], check=True)


def refuse(job):
    """As a firewall that has forgotten the connections and lets none be made again."""
    inside = ["nsenter", "-t", str(job.child.pid), "-n"]
    rules = ("table ip refused { chain c { type filter hook input priority 0; "
             "tcp flags & (syn|ack) == syn reject with tcp reset; }; }")
    subprocess.run([*inside, "nft", rules], check=True)
    reset(job.ranks(), around=inside)


def refuse_no_more(job):
    subprocess.run(["nsenter", "-t", str(job.child.pid), "-n", "nft", "delete table ip refused"],
                   stderr=subprocess.DEVNULL, check=False)  # the job may have ended


def lose_adapter(_):
    """Soft-RoCE changes its address: on connections that exist nothing arrives any more."""
    address = "02:" + os.urandom(5).hex(":")
    subprocess.run(["ip", "link", "set", "dev", "dummy0", "address", address], check=True)


def shell(script):
    return ["bash", "-c", f'{script} && exec "$@"', "bash"]


def mounted(script):
    return ["unshare", "--mount", *shell(script)]


# A rank that copies from the memory of the dead one can end the job before weftrun sees the death.
GONE = "ended before it called MPI_Finalize"
CRASHED = rf"killed by signal 11|: Segmentation fault|terminated with signal 11|{GONE}"
# Where connections are reset. The sentence names both ranks, their hosts, and the provider.
RESETS = ("rxm", "net", "sockets", "tcp2")
# tcp;ofi_rxm matches a later message in place of a lost one, see docs/RELIABILITY.md.
SOFTWARE = {"WEFT_MATCHING": "software"}
RESET_TRAFFIC = [*TRAFFIC, "windows", "bursts", "pauses"]
RESET = r"weft: rank \d+ on \S+: .*rank \d+ on \S+ .*over (tcp|net|sockets)"
FAULTS = [
    Fault("kill", "SIGKILL to a rank", error=rf"killed by signal 9|: Killed|{GONE}", act=to_rank(signal.SIGKILL)),
    Fault("segv", "SIGSEGV in a rank", error=CRASHED,
          act=to_rank(signal.SIGSEGV)),
    Fault("stop", "SIGSTOP to a rank, SIGCONT 3 s later", right=True, act=to_rank(signal.SIGSTOP),
          undo=to_rank(signal.SIGCONT), lasts=3, seconds=2, within=15),
    Fault("launcher", "SIGKILL to the launcher", error="", act=lambda job: job.child.kill(), nodes=(1,)),
    Fault("reader", "the reader of the output ends", error="", seconds=0.5, nodes=(1,),
          around=["bash", "-o", "pipefail", "-c", '"$@" | head -n 1', "bash"]),
    Fault("stdout", "standard output is closed", right=True, error="", seconds=0.5, nodes=(1,),
          around=shell("exec >&-")),
    Fault("shm-full", "/dev/shm is full", right=True, error=r"full /dev/shm|psm2", seconds=0.5, nodes=(1,),
          around=mounted("mount -t tmpfs -o size=64k none /dev/shm"),
          before=shell("mount -o remount,size=64k /dev/shm && ! cat /dev/zero 2>/dev/null >/dev/shm/full")),
    Fault("no-cma", "the kernel refuses access to other processes' memory", right=True, options=["no-cma"],
          seconds=0.5, nodes=(1,)),
    Fault("nofile", "12 open files", right=True, error=r"open files", before=shell("ulimit -n 12"), seconds=0.5,
          nodes=(1,)),
    Fault("memory", "44 MiB of address space (RLIMIT_AS)", right=True, error=r"[Mm]emory|failed to map", seconds=0.5,
          nodes=(1,), before=shell("ulimit -v 45056"), environment={"WEFT_CONNECT_TIMEOUT": "3"}),
    Fault("memlock", "no locked memory", right=True, error=r"[Mm]emory", seconds=0.5, nodes=(1,), before=[
        "setpriv", "--inh-caps", "-ipc_lock", "--bounding-set", "-ipc_lock", *shell("ulimit -l 0")]),
    Fault("tmpdir-full", "TMPDIR is full", right=True, error=r"No space left", seconds=0.5, nodes=(1,),
          around=mounted('mount -t tmpfs -o size=4k,nr_inodes=1 none "$TMPDIR"')),
    Fault("tmpdir-read-only", "TMPDIR cannot be written", right=True, error=r"Read-only", seconds=0.5, nodes=(1,),
          around=mounted('mount -t tmpfs -o ro none "$TMPDIR"')),
    Fault("clock", "the time of day jumps by an hour, and back", right=True, seconds=2.5, nodes=(1,),
          environment={"LD_PRELOAD": "clock.so", "WEFT_TEST_JUMP": "3600"}),
    Fault("network", "the ranks' network is lost for good, not the launcher's (WEFT_NETWORK_TIMEOUT=8)", right=True,
          error=r"has not answered", act=lose_network, seconds=20, within=20, nodes=(1,),
          places=("rxm", "net", "sockets", "tcp2"), environment={"WEFT_NETWORK_TIMEOUT": "8", "WEFT_IFACE": "weft0"},
          around=["unshare", "--net", *shell("ip link set lo up && ip link add weft0 type veth peer weft1 && "
                                             "ip addr add 10.78.0.1/24 dev weft0 && ip link set weft0 up && "
                                             "ip link set weft1 up")]),
    # Over sockets its bytes stop libfabric: SECURITY.md.
    Fault("stranger", "a process of another user connects to every port of the job", right=True, seconds=3,
          nodes=(1,), places=("shm", "shm-staged", "rxm", "net", "tcp2"),
          around=["unshare", "--net", *shell(
              "ip link set lo up && { setpriv --reuid 65533 --regid 65533 --clear-groups "
              f"/usr/bin/python3 - <{ROOT}/tests/faults/stranger.py >&2 & }} && sleep 0.5 && kill -0 $!")]),
    Fault("reset", "the connections between the ranks are reset (WEFT_MATCHING=software)", right=True,
          error=RESET, act=reset_all, seconds=3, within=20, nodes=(1,), places=RESETS, environment=SOFTWARE),
    Fault("refused", "the same, and new ones are refused for 30 s", right=True, error=RESET, act=refuse,
          undo=refuse_no_more, lasts=30, seconds=20, within=60, nodes=(1,), places=RESETS, environment=SOFTWARE,
          around=["unshare", "--net", *shell("ip link set lo up")]),
    Fault("adapter", "what the connections that exist send is lost for good (WEFT_NETWORK_TIMEOUT=8)", right=True,
          error=r"could not be sent|failed:", act=lose_adapter, seconds=20, within=20, nodes=(1,), places=("verbs",),
          environment={"WEFT_NETWORK_TIMEOUT": "8"}),
    Fault("cancel", "scancel of the job", error=r"CANCELLED|[Cc]ancel", nodes=(2,),
          act=netlab("exec", "ctl", "scancel", "--user=root")),
    Fault("loss", "5 % of the packets of a node are lost for 10 s", right=True, act=netlab("loss", "n2", "5"),
          undo=netlab("undrop", "n2"), lasts=10, seconds=3, within=60, nodes=(2,)),
    # Without its cable a node offers no network to a rank in MPI_Init.
    Fault("cut-5s", "the cable of a node is pulled for 5 s", right=True, error=r"No usable provider",
          act=netlab("cut", "n2"), undo=netlab("heal", "n2"), lasts=5, seconds=2, within=60, nodes=(2,)),
    Fault("cut", "the cable of a node is pulled for good", error=r"[Nn]ode failure|NODE FAIL", act=netlab("cut", "n2"),
          undo=netlab("heal", "n2"), lasts=600, seconds=600, within=60, tidy=60, nodes=(2,)),
    Fault("black-hole", "what a node sends is lost", error=r"[Nn]ode failure|NODE FAIL", act=netlab("drop", "n2"),
          undo=netlab("undrop", "n2"), lasts=600, seconds=600, within=60, tidy=60, nodes=(2,)),
]


def is_row(place, fault):
    return place.nodes in fault.nodes and place.name in (fault.places or [place.name])

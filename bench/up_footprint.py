#!/usr/bin/env python3
"""What `baton up` costs: three practice clusters, all their operators, and a Flink job at 5,000 records a second.

    python3 bench/up_footprint.py build/baton [SECONDS]

Prints the processor time that all threads used, per second, from /proc (so a busy machine does not distort it), and the
resident memory; and the judge's count, so that the figures are of a job that did its work. Exit code 1 when the goal was missed.
"""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", "e2e"))
PROGRAM = os.path.abspath(sys.argv[1])
CORES_MAX, MEMORY_MAX = 1, 300  # MiB
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 60
os.environ["BATON"] = PROGRAM
sys.argv = sys.argv[:1]

from up_harness import POLICY, Up, job  # noqa: E402  pylint: disable=wrong-import-position


def cpu_seconds(pid):
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as file:
                total += int(file.read().split()[0])
        except OSError:
            pass
    return total / 1e9


def memory_mib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return {line.split(":")[0]: int(line.split()[1]) / 1024 for line in file if line.startswith(("VmRSS", "VmHWM", "RssAnon"))}


def main():
    up = Up(practice=3, durable=True, speed=10)
    try:
        up.start()
        up.apply(POLICY, job("orders", rate=5000).replace("interval: 1 s", "interval: 10 s"))
        up.until_runs("orders")
        time.sleep(10)  # what a start costs is not what it costs to run
        pid = up.process.pid
        before, begun = cpu_seconds(pid), time.monotonic()
        time.sleep(SECONDS)
        cores = (cpu_seconds(pid) - before) / (time.monotonic() - begun)
        memory = memory_mib(pid)
        print(f"processor  {cores:.3f} cores over {SECONDS:.0f} s")
        print(f"memory     {memory['VmRSS']:.0f} MiB resident ({memory['RssAnon']:.0f} MiB of its own), at most {memory['VmHWM']:.0f}")
        print(up.baton("practice", "check", "--data-dir", up.data))
        up.stop()
        reached = cores < CORES_MAX and memory["VmHWM"] < MEMORY_MAX
        print(f"goal       under {CORES_MAX} core and {MEMORY_MAX} MiB: {'reached' if reached else 'MISSED'}")
        return 0 if reached else 1
    finally:
        up.remove()


if __name__ == "__main__":
    sys.exit(main())

"""The real command, killed right before the n-th step that changes the filesystem: what random instants seldom hit."""

from __future__ import annotations

PROGRAM = """
import os, signal, sys

touching, at = os.environ["KILL_TOUCHING"], int(os.environ["KILL_AT_STEP"])
changing = {"os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "shutil.rmtree"}
writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
n_steps = 0

def step(event, arguments):
    global n_steps
    if event not in changing and not (event == "open" and arguments[2] & writing):
        return
    if any(touching in str(argument) for argument in arguments[:2]):
        n_steps += 1
        if n_steps == at:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(step)

from alphaswarm_assets.cli.app import app
app(prog_name="alphaswarm")
"""


def kill_before(step: int, *, touching: str) -> dict[str, str]:
    """Return the environment that has the program killed before step *step* of those with *touching* in a path."""
    return {"KILL_AT_STEP": str(step), "KILL_TOUCHING": touching}

"""The real command, killed right before the n-th step that changes the filesystem: what random instants seldom hit."""

from __future__ import annotations

from pathlib import Path

AT, LOG = "KILL_AT_STEP", "KILL_LOG"
"""Variables that say before which step it is killed (0: never), and where it notes how many there were."""

PROGRAM = """
import atexit, os, pathlib, signal, sys

home, at, log = os.path.abspath(sys.argv[2]), int(os.environ["KILL_AT_STEP"]), os.environ["KILL_LOG"]
changing = {"os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "shutil.rmtree"}
writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
n_steps = 0

def step(event, arguments):
    global n_steps
    if event not in changing and not (event == "open" and arguments[2] & writing):
        return
    if str(arguments[0]).startswith(home):
        n_steps += 1
        if n_steps == at:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(step)
atexit.register(lambda: pathlib.Path(log).write_text(str(n_steps)))

from alphaswarm_assets.cli.app import app
app(prog_name="alphaswarm")
"""


def variables(log: Path, *, at: int) -> dict[str, str]:
    """Return the environment that has the program killed before step *at*."""
    return {AT: str(at), LOG: str(log)}

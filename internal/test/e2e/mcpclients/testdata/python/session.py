"""What the sessions of all clients in Python have in common."""

import json
import os
import sys

COMMAND = os.environ["TOOLQUAY"]
ARGS = json.loads(os.environ["TOOLQUAY_ARGS"])
# A command that goes on until its call is cancelled.
LASTING = os.environ["TOOLQUAY_LASTING"]

READ = ("Read", {"file_path": "a.txt"})
# What the scripted model asks for, message by message: one call, three at once, one that
# a rule denies, one that a person is asked about.
MESSAGES = [
    [READ],
    [READ, ("Read", {"file_path": "b.txt"}), ("Grep", {"pattern": "tide", "output_mode": "content"})],
    [("Write", {"file_path": "secret.txt", "content": "x\n"})],
    [("Write", {"file_path": "new.txt", "content": "written\n"})],
]
# For clients that tell the server when they cancel a call: nothing else runs beside it.
COMMAND_CALL = ("Bash", {"command": LASTING})
# For clients that only stop to wait: other calls run beside it.
SLEEP = ("Sleep", {"duration_ms": 600_000})
# How long a call that is cancelled runs before.
SOON = 1.5
ANSWER = {"answer": "allow"}


class Report:
    """What a session came to, for the test to judge."""

    def __init__(self):
        self.seen = {"tools": [], "asked": [], "results": [], "again": "", "after": ""}

    def __setitem__(self, key, value):
        self.seen[key] = value

    def __getitem__(self, key):
        return self.seen[key]

    def print(self):
        json.dump(self.seen, sys.stdout)

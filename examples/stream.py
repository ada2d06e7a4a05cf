#!/usr/bin/env python3
"""Drives toolquay as a child process: python3 examples/stream.py CALLS.jsonl [toolquay flag...]

CALLS has a call a line: {"type": "tool_use", "id": "t1", "name": "Read", "input": {...}}.
They run as they are sent, side by side where they can; Ctrl-C interrupts them.
"""
import json, signal, subprocess, sys

child = subprocess.Popen(["toolquay", *sys.argv[2:], "run", "--stream", "-"], text=True, encoding="utf-8",
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)

def send(**line):
    child.stdin.write(json.dumps(line) + "\n")
    child.stdin.flush()

signal.signal(signal.SIGINT, lambda *_: send(type="interrupt"))
for call in open(sys.argv[1], encoding="utf-8"):  # in earnest: the model's blocks, as each is complete
    send(**json.loads(call))
send(type="end")
for event in map(json.loads, child.stdout):
    kind, call = event["type"], event.get("tool_use_id", "")
    if kind in ("started", "progress"):
        print(kind, call, event["tool"], event.get("display", ""), flush=True)
    elif kind == "permission":
        yes = input(f"{event['tool']} {event.get('display', '')}: {event.get('reason', '')}. Allow? [y/N] ") == "y"
        send(type="answer", question=event["approval"], answer="allow" if yes else "deny")
    elif kind == "question":  # a tool's form or URL, which this program does not show
        send(type="answer", question=event["question"], answer="deny")
    elif kind in ("result", "replaced"):
        text = "".join(block.get("text", "") for block in event["content"])
        print(kind, call, event["state"], text.strip()[:100], flush=True)
    elif kind == "error":
        print("error in line", event["line"], event["message"], flush=True)
    elif kind == "done":  # what the model is to be told is complete: its next calls could follow
        print(event["ok"], "of", event["calls"], "went well", flush=True)
        child.stdin.close()
sys.exit(child.wait())

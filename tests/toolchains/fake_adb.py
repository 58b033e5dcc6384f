#!/usr/bin/env python3
"""Speaks adb's command line on this machine, with the faults of real connections.

FAKE_ADB names a folder with faults.json, which this program updates:
  calls    every command line that came, in order
  drop     how many more `shell` calls with the text of drop_in ("-r unity" if absent) in them lose the connection
  lines    after how many lines of output they lose it
  runs_on  if true, what runs then is left running
  away     if true, the device never comes back: `wait-for-device` waits for 100 seconds
As adb before version 24, it always exits with 0 after `shell`; output has \\r\\n at the ends of lines.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

STATE = pathlib.Path(os.environ["FAKE_ADB"], "faults.json")


def shell(text, faults):
    child = subprocess.Popen(["sh", "-c", text], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, start_new_session=True)
    drops = faults["drop"] > 0 and faults.get("drop_in", "-r unity") in text
    if drops:
        faults["drop"] -= 1
        save(faults)
    for number, line in enumerate(child.stdout, 1):
        sys.stdout.write(line.rstrip("\n") + "\r\n")
        sys.stdout.flush()
        if drops and number >= faults["lines"]:
            if not faults.get("runs_on"):
                os.killpg(child.pid, signal.SIGKILL)
            sys.exit("error: closed")
    child.wait()


def save(faults):
    STATE.write_text(json.dumps(faults))


def main():
    faults = json.loads(STATE.read_text())
    arguments = sys.argv[1:]
    assert arguments[:2] == ["-s", "SERIAL"], arguments
    command, rest = arguments[2], arguments[3:]
    faults["calls"].append(command)
    save(faults)
    if command == "shell":
        shell(" ".join(rest), faults)
    elif command == "push":
        shutil.copy(rest[0], rest[1])
    elif command == "wait-for-device":
        time.sleep(100 if faults.get("away") else 0)
    else:
        sys.exit(f"fake adb: {arguments}")


if __name__ == "__main__":
    main()

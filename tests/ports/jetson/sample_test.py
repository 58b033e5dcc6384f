"""The sample learns two classes from a folder of frames and from a camera's stand-in, and goes on after a kill.

Usage: sample_test.py SAMPLE STAND_IN
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODEL = ROOT / "models/zoo/digits_cnn_f32.tflite"
UNIT = ROOT / "ports/jetson/sample/topwork-camera.service"
problems = []


def expect(ok, what):
    if not ok:
        problems.append(what)


def ppm(above, level):
    """16 x 16, bright in the upper or the lower half."""
    rows = [bytes([level if (y < 8) == above else 10] * 48) for y in range(16)]
    return b"P6\n# a frame\n16 16\n255\n" + b"".join(rows)


def write_frames(folder, pattern):
    folder.mkdir()
    for i, letter in enumerate(pattern):
        (folder / f"{i:03}.ppm").write_bytes(ppm(letter == "a", 180 + 5 * (i % 10)))


def sample(frames, here, keys, environment=None, checkpoint="learnt.checkpoint"):
    (here / "keys").write_text(keys)
    done = subprocess.run([sys.argv[1], MODEL, frames, here / checkpoint, here / "keys", "above", "below"],
                          capture_output=True, text=True, env={**os.environ, **(environment or {})})
    return done.returncode, done.stdout.splitlines(), done.stderr


def names(lines):
    return [line.split()[1] for line in lines if re.match(r"\d+ (above|below) ", line)]


def check_folder(here):
    write_frames(here / "lesson", "ababab" + "abba")
    code, lines, said = sample(here / "lesson", here, "..1212....")
    expect(code == 0 and not said, f"exit {code}: {said}")
    expect(lines[0] == "0 examples from before" and lines[1] == "0 nothing learnt yet", f"{lines[:2]}")
    expect("5 learnt below (4 examples)" in lines, f"{lines}")
    expect(names(lines) == ["above", "below", "below", "above"], f"after four keys: {lines}")
    write_frames(here / "later", "ba")
    code, lines, said = sample(here / "later", here, "")
    expect(code == 0 and lines[0] == "4 examples from before" and names(lines) == ["below", "above"],
           f"a second run does not go on: {lines} {said}")


def check_kill(here):
    """SIGKILL while it waits for keys at a pipe: what was learnt stays."""
    os.mkfifo(here / "pipe")
    write_frames(here / "many", "ab")
    for i in range(2, 8000):  # so many lines do not fit into its output, where it waits then
        os.link(here / f"many/{i % 2:03}.ppm", here / f"many/{i:05}.ppm")
    running = subprocess.Popen([sys.argv[1], MODEL, here / "many", here / "killed.checkpoint", here / "pipe", "above", "below"],
                               stdout=subprocess.PIPE, text=True)
    keys = os.open(here / "pipe", os.O_RDWR)
    os.write(keys, b"12")  # of any two frames after each other one is bright above
    learnt = set()
    for line in running.stdout:
        found = re.match(r"\d+ learnt (\w+)", line)
        learnt |= {found.group(1)} if found else set()
        if len(learnt) == 2:
            break
    running.send_signal(signal.SIGKILL)
    running.wait()
    running.stdout.close()
    os.close(keys)
    expect(len(learnt) == 2, f"it learnt {learnt} by keys from a pipe")
    write_frames(here / "after", "ab")
    code, lines, said = sample(here / "after", here, "", checkpoint="killed.checkpoint")
    found = re.match(r"(\d+) examples from before", lines[0] if lines else "")
    expect(code == 0 and found and int(found.group(1)) >= 2, f"after SIGKILL: {lines} {said}")


def check_camera(here):
    if sys.platform != "linux" or len(sys.argv) < 3:
        return
    environment = {"LD_PRELOAD": sys.argv[2]}
    code, lines, said = sample("/dev/video0", here, "1.2.......", environment, "camera.checkpoint")
    # Frames 0, 1, 4, 5, 8, 9 are bright above. After the last one the stand-in is unplugged.
    expect(names(lines) == ["below", "above", "above", "below", "below", "above", "above"], f"camera: {lines} {said}")
    expect(code == 1 and "no frame from the camera: No such device" in said, f"unplugged: {code} {said}")
    code, _, said = sample("/dev/video1", here, "", environment, "camera.checkpoint")
    expect(code == 1 and "it has no YUYV pictures" in said, f"no YUYV: {code} {said}")


def check_faults(here):
    (here / "cut").mkdir()
    (here / "cut" / "0.ppm").write_bytes(ppm(True, 200)[:-1])
    for frames, words in ((here / "cut", "cut short"), (here / "none", "none"), ("/dev/null", "no V4L2 device")):
        code, _, said = sample(frames, here, "", checkpoint="faults.checkpoint")
        expect(code == 1 and words in said, f"{frames}: {code} {said}")
    write_frames(here / "fine", "ab")
    (here / "damaged.checkpoint").write_bytes(b"no checkpoint")
    code, _, said = sample(here / "fine", here, "", checkpoint="damaged.checkpoint")
    expect(code == 1 and "CORRUPT" in said, f"a damaged checkpoint: {code} {said}")


def check_classes(here):
    write_frames(here / "frames", "ab")
    for names, words in ((["cup", "cup"], "two classes are named 'cup'"), (["cup", ""], "class 2 has no name"),
                         (list("abcdefghij"), "9 classes at most")):
        done = subprocess.run([sys.argv[1], MODEL, here / "frames", here / "none.checkpoint", "/dev/null", *names],
                              capture_output=True, text=True)
        expect(done.returncode == 1 and words in done.stderr and not done.stdout, f"classes {names}: {done.stderr}")


def check_unit(here):
    if shutil.which("systemd-analyze") is None:
        print("SKIP the unit: systemd-analyze is not installed (Debian: apt install systemd)")
        return
    # Programs named there are not installed here: those of this machine stand in.
    text = UNIT.read_text().replace("/usr/local/bin/topwork-camera", sys.argv[1]).replace("file:///usr", "file:/usr")
    (here / "topwork-camera.service").write_text(text)
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", here / "topwork-camera.service"], capture_output=True, text=True)
    said = [line for line in (done.stdout + done.stderr).splitlines() if "topwork-camera" in line]
    expect(done.returncode == 0 and not said, f"systemd-analyze: {done.stdout}{done.stderr}")


def main():
    for check in (check_folder, check_kill, check_camera, check_faults, check_classes, check_unit):
        with tempfile.TemporaryDirectory(prefix="topwork_sample_") as name:
            check(pathlib.Path(name))
    print("\n".join(problems) or "the sample learns, and goes on")
    sys.exit(1 if problems else 0)


main()

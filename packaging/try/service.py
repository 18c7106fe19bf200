"""The service as an administrator runs it, in a system that has booted (scripts/try-packages): docs/library.md, "Debian packages"."""
import json
import pathlib
import socket
import subprocess
import time
import urllib.error
import urllib.request


with socket.socket() as one:  # the system may share the network of the machine it runs on
    one.bind(("127.0.0.1", 0))
    PORT = one.getsockname()[1]


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def ask(path, body=None, kind="image/jpeg", key=None):
    headers = {"Content-Type": kind, **({"Authorization": f"Bearer {key}"} if key else {})}
    with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{PORT}{path}", body, headers), timeout=30) as answer:
        return answer.read().decode()


def wait_for(path):
    for _ in range(600):
        try:
            return ask(path)
        except OSError:
            time.sleep(0.1)
    said = subprocess.run(["journalctl", "--no-pager", "-u", "protocom-serve"], capture_output=True, text=True).stdout
    raise SystemExit(f"no answer from {path}:\n{said}")


# Without a recognizer the service waits for one instead of failing.
run("systemctl", "enable", "--now", "protocom-serve")
assert run("systemctl", "show", "-P", "ConditionResult", "protocom-serve") == "no"

run("install", "-o", "protocom-serve", "-g", "protocom-serve", "-m", "600", "/try/used/mine.pcm", "/var/lib/protocom/recognizer.pcm")
configuration = pathlib.Path("/etc/protocom/serve.conf")
configuration.write_text(configuration.read_text().replace("--port 8080", f"--port {PORT}"))
begin = time.monotonic()
run("systemctl", "start", "protocom-serve")
print("healthz:", wait_for("/healthz"), f"after {time.monotonic() - begin:.1f} s")
assert "ready" in wait_for("/readyz"), wait_for("/readyz")

process = run("systemctl", "show", "-P", "MainPID", "protocom-serve")
user = run("stat", "-c", "%U", f"/proc/{process}")
assert user == "protocom-serve", user
photo = next(pathlib.Path("/try/used/holiday").iterdir())
answer = json.loads(ask("/v1/classify", photo.read_bytes()))
print(f"as the user {user}, {photo.name}:", answer["answers"][0]["ranking"][0])

# It may change what it serves, and it still has the change when it has been restarted.
ask("/v1/classes/another/examples", photo.read_bytes())
run("systemctl", "restart", "protocom-serve")
wait_for("/readyz")
assert "another" in ask("/v1/classes")

# Keys as serve.conf says.
key = run("runuser", "-u", "protocom-serve", "--", "protocom-serve", "keys", "add", "/var/lib/protocom/keys.json", "phone").splitlines()[0]
configuration.write_text(configuration.read_text().replace(f"--port {PORT}", f"--port {PORT} --keys /var/lib/protocom/keys.json"))
run("systemctl", "restart", "protocom-serve")
wait_for("/healthz")
assert "another" in ask("/v1/classes", key=key)
try:
    raise SystemExit("without a key: " + ask("/v1/classes"))
except urllib.error.HTTPError as refused:
    assert refused.code == 401, refused
run("systemctl", "stop", "protocom-serve")
print("changes are kept, keys are asked for, it stops")

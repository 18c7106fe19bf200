"""A page in headless Chromium that says something by `fetch('said', {method: 'POST', body: text})`."""
import functools
import http.server
import queue
import subprocess
import tempfile
import threading

LONGEST = 600  # seconds


class Pages(http.server.SimpleHTTPRequestHandler):
    """A folder's files; what is posted goes into `said`."""

    def __init__(self, said, *arguments, **options):
        self.said = said
        super().__init__(*arguments, **options)

    def do_POST(self):
        self.said.put(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.send_response(204)
        self.end_headers()

    def log_message(self, *arguments):
        pass


Pages.extensions_map |= {".mjs": "text/javascript", ".wasm": "application/wasm"}


def said_by_page(chromium, folder):
    """What index.html of a folder says first."""
    said = queue.Queue()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Pages, said, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen([chromium, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--remote-debugging-port=0",
                                    f"http://127.0.0.1:{server.server_port}/"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            return said.get(timeout=LONGEST)
        finally:
            browser.terminate()
            browser.wait()
            server.shutdown()

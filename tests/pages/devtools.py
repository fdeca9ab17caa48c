"""A browser that a test steers: its size, its colours, what is typed, what a script finds in a page.

Chromium's protocol for developers, over two pipes: texts of JSON, each ended by a zero byte.
"""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import browser

#: What a script of a test waits for at most, on a busy machine.
PATIENCE = 120

#: Run before a page's own scripts.
NOTES_ERRORS = """
window.errorsSeen = [];
addEventListener('error', e => errorsSeen.push(`${e.message || 'not loaded: ' + (e.target.src || e.target.href)}`), true);
addEventListener('unhandledrejection', e => errorsSeen.push(`${e.reason}`));
"""


class Browser:
    """A Chromium that can reach no network, with one page."""

    def __init__(self, folder: Path) -> None:
        program = browser.chromium()
        assert program is not None
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        # Chromium reads from descriptor 3 and writes to 4.
        self._process = subprocess.Popen(
            [
                "bash", "-c", f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}', "bash", program, "--headless", "--no-sandbox", "--disable-gpu",
                "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run", "--host-resolver-rules=MAP * ~NOTFOUND",
                f"--user-data-dir={folder / 'profile'}", "--remote-debugging-pipe", "about:blank",
            ],
            pass_fds=(theirs_in, theirs_out), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)
        self._in, self._out, self._read, self._calls = ours_in, ours_out, b"", 0
        self._session = ""
        (target,) = (t["targetId"] for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Page.addScriptToEvaluateOnNewDocument", source=NOTES_ERRORS)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._out)  # at which it ends
        os.close(self._in)
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol."""
        self._calls += 1
        message: dict[str, Any] = {"id": self._calls, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while True:
            text, ended, rest = self._read.partition(b"\0")
            if not ended:
                assert select.select([self._in], [], [], max(end - time.monotonic(), 0))[0], f"no answer to {method}"
                more = os.read(self._in, 1 << 20)
                assert more, "the browser has ended"
                self._read += more
                continue
            self._read = rest
            answer = json.loads(text)
            if answer.get("id") == self._calls:
                assert "error" not in answer, answer["error"]
                return dict(answer["result"])

    def open(self, page: Path, *, width: int, dark: bool = False, height: int = 900) -> None:
        """Load a page at a width in points; up to 500 of them are a phone's."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width <= 500
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=page.as_uri())
        self.wait(f"location.href === {json.dumps(page.as_uri())} && document.readyState === 'complete'")

    def script(self, text: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=text, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, text: str) -> Any:
        """Wait until an expression in the page is true, and return it."""
        end = time.monotonic() + PATIENCE
        while True:
            value = self.script(text)
            if value:
                return value
            assert time.monotonic() < end, f"not true: {text}"
            time.sleep(0.05)

    def type(self, text: str) -> None:
        """Type a text where the cursor is."""
        self.call("Input.insertText", text=text)

    def shot(self, name: str) -> Path:
        """Leave a picture of the whole page as build/pages/screenshots/NAME.png."""
        browser.SHOTS.mkdir(parents=True, exist_ok=True)
        path = browser.SHOTS / f"{name}.png"
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))
        return path


#: The texts in a page of which a part cannot be seen: wider than the page, or than a box that hides what is beyond it.
#: What can be scrolled can be seen.
CUT = """
(() => {
  const cut = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const wide = document.documentElement.clientWidth;
  for (let node; node = walk.nextNode();) {
    const text = node.data.trim(), of = node.parentElement;
    if (!text || !of.checkVisibility({visibilityProperty: true, opacityProperty: true}) || /^(SCRIPT|STYLE|TITLE)$/i.test(of.tagName)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const r of range.getClientRects()) {
      if (r.width < 2 || r.height < 2) continue;
      let left = 0, right = wide, scrolls = false;
      for (let e = of; e && e !== document.body; e = e.parentElement) {
        const style = getComputedStyle(e), box = e.getBoundingClientRect();
        if (/(auto|scroll)/.test(style.overflowX)) { scrolls = true; break; }
        if (/(hidden|clip)/.test(style.overflowX) && style.display !== 'inline') { left = Math.max(left, box.left); right = Math.min(right, box.right); }
        if (style.position === 'fixed' || style.position === 'absolute' && style.clipPath !== 'none') { scrolls = true; break; }
      }
      if (!scrolls && (r.left < left - 1 || r.right > right + 1)) { cut.push(text.slice(0, 60)); break; }
    }
  }
  return cut;
})()
"""

#: By how much the page can be scrolled to the side.
ASIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

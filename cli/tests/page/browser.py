"""Goal: what the local page shows in a browser is true, readable and harmless, and its buttons work by mouse and keyboard.

Method: a headless Chromium over its DevTools protocol, which presses the buttons of the page of the built binary and reads the document.

    browser.py IDEMPOTENCY CHROMIUM [SCREENSHOT.png]

needs the package websocket-client. The exit status is 0 only if every check held.
"""

import base64
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import websocket

# Longer than anything takes on a slow machine; reaching it fails the test.
PATIENCE = 30


class Tab:
    """A tab of the browser."""

    def __init__(self, url):
        self.socket = websocket.create_connection(url, timeout=PATIENCE, suppress_origin=True)
        self.ids = itertools.count(1)
        self.errors = []
        for domain in ("Runtime", "Log", "Page", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        ident = next(self.ids)
        self.socket.send(json.dumps({"id": ident, "method": method, "params": params}))
        while True:
            message = json.loads(self.socket.recv())
            self.note(message)
            if message.get("id") == ident:
                assert "error" not in message, (method, message)
                return message["result"]

    def note(self, message):
        """Keeps what the browser complains of."""
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(params["exceptionDetails"])
        if method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"])
        if method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            self.errors.append(params["args"])

    def eval(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, (expression, result)
        return result["result"].get("value")

    def until(self, expression, expected, what):
        end = time.monotonic() + PATIENCE
        while True:
            seen = self.eval(expression)
            if seen == expected:
                return
            if time.monotonic() > end:
                sys.exit(f"waited in vain for {what}: {expected!r}, the page has {seen!r}")
            time.sleep(0.05)

    def open(self, url, ready):
        self.call("Page.navigate", url=url)
        self.until(ready, True, f"{url} to load")

    def press(self, label):
        found = self.eval(
            f"(() => {{ const all = [...document.querySelectorAll('button')];"
            f"const one = all.find((b) => (b.ariaLabel ?? b.textContent) === {json.dumps(label)});"
            f"one?.click(); return one !== undefined; }})()"
        )
        assert found, f"there is no button {label!r}"

    def key(self, key, code, text=""):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, text=text)

    def width(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)


# The outcomes of the invocations, oldest first.
OUTCOMES = """[...document.querySelectorAll('#timeline li:not(.deed)')].reverse().map((li) => li.querySelector('.chips').textContent)"""

# The contrast of each chip's text with its ground (WCAG 2.2, "contrast ratio"), by its word.
CONTRAST = """(() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  const light = (colour) => { const [r, g, b] = channels(colour); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  return [...document.querySelectorAll('.chip, button, .detail, time')].map((element) => {
    let ground = element;
    while (getComputedStyle(ground).backgroundColor === 'rgba(0, 0, 0, 0)') ground = ground.parentElement;
    const both = [light(getComputedStyle(element).color), light(getComputedStyle(ground).backgroundColor)].sort((a, b) => b - a);
    return [element.textContent, (both[0] + 0.05) / (both[1] + 0.05)];
  });
})()"""

GROUNDS = """Object.fromEntries([...document.querySelectorAll('#timeline .chip')].map((chip) => [chip.textContent, getComputedStyle(chip).backgroundColor]))"""


def charge(http, key, amount):
    """A charge as a caller sends it; the status."""
    body = json.dumps({"amount": amount, "currency": "EUR", "customer": "cus_42"}).encode()
    headers = {"x-tenant-id": "tenant-7", "idempotency-key": key, "content-type": "application/json"}
    try:
        return urllib.request.urlopen(urllib.request.Request(f"{http}/charges", body, headers)).status
    except urllib.error.HTTPError as error:
        return error.code


def charges(provider):
    return len(json.load(urllib.request.urlopen(f"{provider}/ledger")))


def check(tab, local, screenshot):
    tab.width(1280, 860)
    tab.open(local["page"], "document.getElementById('connection')?.textContent === 'live'")

    # By keyboard alone: the first stop is the button that sends something.
    tab.key("Tab", 9)
    assert tab.eval("document.activeElement.textContent") == "Send something new"
    tab.key("Enter", 13, "\r")
    expected = ["fresh"]
    tab.until(OUTCOMES, expected, "a request sent by keyboard")
    tab.press("Send 1 again")
    expected += ["replay"]
    tab.until(OUTCOMES, expected, "its duplicate")

    # The same key for another request, by a caller of one's own.
    key = tab.eval("document.querySelector('#timeline .key').textContent")
    assert charge(local["http"], key, 1300) == 422
    expected += ["mismatch"]
    tab.until(OUTCOMES, expected, "a mismatch")

    # A lost reply: one effect all the same.
    before = charges(local["provider"])
    tab.eval("document.querySelector('[data-button=drop_reply][data-write=completion]').click()")
    tab.until("document.querySelector('[data-button=drop_reply][data-write=completion]').ariaPressed", "true", "an armed button")
    tab.press("Send something new")
    expected += ["fresh"]
    tab.until(OUTCOMES, expected, "a request whose reply gets lost")
    tab.until("document.querySelector('#timeline .deed').textContent.includes('its reply was lost')", True, "the lost reply")
    assert charges(local["provider"]) == before + 1

    # A crash: a conflict while the lease runs, uncertain afterwards.
    tab.eval("document.querySelector('[data-button=kill_at][data-write=completion]').click()")
    tab.until("document.getElementById('said').textContent.startsWith('The sandbox will be killed')", True, "what was said")
    tab.press("Send something new")
    expected += ["crashed"]
    tab.until(OUTCOMES, expected, "a crash")
    crashed = tab.eval("Math.max(...[...document.querySelectorAll('#timeline li:not(.deed)')].map((li) => li.dataset.entry))")
    tab.until("[...document.querySelectorAll('#records .chip')].some((chip) => chip.textContent === 'in-flight')", True, "its record")
    lease = tab.eval("document.querySelector('#records tbody tr td:nth-child(4)').textContent")
    assert re.fullmatch(r"in \d+ s", lease), lease
    tab.press(f"Send {crashed} again")
    expected += ["conflict"]
    tab.until(OUTCOMES, expected, "a conflict")
    tab.press("End every lease")
    tab.until("document.getElementById('said').textContent.startsWith('Ended every lease')", True, "what was said")
    tab.press(f"Send {crashed} again")
    expected += ["uncertain"]
    tab.until(OUTCOMES, expected, "an uncertain outcome")
    tab.until("document.querySelectorAll('#records tbody tr').length", 3, "the records")
    tab.until("document.querySelector('#records tbody').textContent.includes('uncertain')", True, "the uncertain record")
    forgotten = tab.eval("document.querySelector('#records tbody td:nth-child(5)').textContent")
    assert re.fullmatch(r"in (2 d( \d+ \w+)?|1 d 23 h)", forgotten), forgotten

    # Five outcomes, five colours, each with its word, and readable in both schemes.
    grounds = tab.eval(GROUNDS)
    five = {word: grounds[word] for word in ("fresh", "replay", "conflict", "mismatch", "uncertain")}
    assert len(set(five.values())) == 5, five
    time.sleep(0.3)
    if screenshot:
        tab.eval("document.activeElement.blur()")
        shot = base64.b64decode(tab.call("Page.captureScreenshot", format="png")["data"])
        assert len(shot) < 200_000, f"the screenshot has {len(shot)} bytes"
        pathlib.Path(screenshot).write_bytes(shot)
    body = tab.eval("getComputedStyle(document.body).backgroundColor")
    for scheme in ("light", "dark"):
        tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        low = [(word, ratio) for word, ratio in tab.eval(CONTRAST) if ratio < 4.5]
        assert not low, (scheme, low)
    assert tab.eval("getComputedStyle(document.body).backgroundColor") != body, "the dark scheme is another one"
    tab.call("Emulation.setEmulatedMedia", features=[])

    # What callers send is text, and so is what they sent when it is shown.
    markup = "<img/src=x/onerror=document.title='owned'><b>"
    charge(local["http"], markup, 1200)
    tab.until("document.querySelector('#timeline .key').textContent", markup, "a key that is markup")
    tab.press("Event and answer of %s" % tab.eval("document.querySelector('#timeline li').dataset.entry"))
    tab.until("document.querySelector('#timeline pre')?.textContent.includes('onerror')", True, "the event")
    assert tab.eval("document.querySelectorAll('img, b, [onerror]').length") == 0
    assert tab.eval("document.title") == "idempotency local"

    # A phone: everything is there, and nothing is beside the screen.
    tab.width(360, 740)
    wide = tab.eval("document.documentElement.scrollWidth")
    assert wide <= 360, f"{wide} pixels wide on a phone of 360"
    assert tab.eval("[...document.querySelectorAll('button')].every((b) => b.getBoundingClientRect().right <= 360)")
    assert tab.eval("getComputedStyle(document.querySelector('#records td'), '::before').content") == '"Operation"'
    assert tab.errors == [], tab.errors

    # A page of another origin in the same browser can neither read nor press.
    tab.open(f"{local['provider']}/ledger", "location.pathname === '/ledger' && document.readyState === 'complete'")
    count = charges(local["provider"])
    press = "{ method: 'POST', headers: HEADERS, mode: 'MODE', body: '{\"button\":\"example\"}' }"
    for mode, headers in (("no-cors", "{}"), ("cors", "{ 'x-page-token': '0' }")):
        options = press.replace("MODE", mode).replace("HEADERS", headers)
        told = tab.eval(f"fetch('{local['page']}api/press', {options}).then((a) => a.type, () => 'failed')")
        assert told in ("opaque", "failed"), told
    for path in ("", "api/state"):
        assert tab.eval(f"fetch('{local['page']}{path}').then(() => 'read', () => 'failed')") == "failed"
    tab.open(local["page"], "document.querySelectorAll('#timeline li').length > 0")
    assert charges(local["provider"]) == count
    assert tab.eval("document.querySelectorAll('#timeline li:not(.deed)').length") == len(expected) + 1


def main(idempotency, chromium, screenshot=None):
    started = []
    with tempfile.TemporaryDirectory() as profile:
        try:
            arguments = ["--no-build", "local", "--json", "--http", "127.0.0.1:0", "--on-abandoned", "reject"]
            local = subprocess.Popen([idempotency, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            started.append(local)
            addresses = json.loads(local.stdout.readline())
            # A machine that only checks this has no user namespaces for the sandbox, and trusts the page.
            options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions"]
            options += ["--disable-background-networking", "--lang=en-GB", "--remote-debugging-port=0", f"--user-data-dir={profile}"]
            browser = subprocess.Popen([chromium, *options, "about:blank"], stderr=subprocess.PIPE, text=True)
            started.append(browser)
            address = next(found[1] for line in browser.stderr if (found := re.search(r"listening on ws://([^/]+)/", line)))
            tabs = json.load(urllib.request.urlopen(f"http://{address}/json"))
            tab = Tab(next(tab["webSocketDebuggerUrl"] for tab in tabs if tab["type"] == "page"))
            check(tab, addresses, screenshot)
            tab.call("Browser.close")
            browser.wait(PATIENCE)
        finally:
            for process in started:
                process.terminate()
                process.wait(PATIENCE)
    print("The page is as it should be.")


if __name__ == "__main__":
    main(*sys.argv[1:])

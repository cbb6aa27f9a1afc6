"""The pages of `shardlab lesson --html` in a real browser, on a wide screen and on a narrow one: nothing is wider than the screen or cut,
every answer opens, nothing is fetched. By hand: lesson_pages.py --pictures FOLDER [LESSON ...], every lesson with all its answers open.
"""
# processors: 1

import argparse
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import _display

SHARDLAB = os.environ.get("SHARDLAB", os.path.join(_display.BUILD, "bin", "shardlab"))
BROWSERS = ["chromium", "chromium-browser", "google-chrome"]
WIDTHS = [1000, 400]
# Opens what can be opened and says what does not fit. What scrolls by itself may be wider than its place.
LOOK = """<script>
const said = {open: 0, wide: [], empty: [], unopened: 0, links: [], height: 0};
for (const answer of document.querySelectorAll("details")) {
  answer.querySelector("summary").click();
  if (answer.open && answer.lastElementChild.getBoundingClientRect().height > 0) said.open += 1; else said.unopened += 1;
}
const scrolls = each => { for (; each; each = each.parentElement)
  if (getComputedStyle(each).overflowX !== "visible" && each !== document.body) return true; return false; };
const edge = document.documentElement.clientWidth;
for (const each of document.body.querySelectorAll("*"))
  if (each.getBoundingClientRect().right > edge + 1 && !scrolls(each)) said.wide.push(each.tagName + " " + each.textContent.slice(0, 40));
for (const each of document.querySelectorAll("p, li, summary, h1, h2, h3, figcaption, svg"))
  if (each.getBoundingClientRect().width < 1 || each.tagName !== "svg" && each.textContent.trim() === "") said.empty.push(each.outerHTML.slice(0, 80));
for (const each of document.querySelectorAll("a[href^='#']"))
  if (!document.querySelector(each.getAttribute("href").replace("#", "[id='") + "']")) said.links.push(each.getAttribute("href"));
said.height = document.documentElement.scrollHeight;
const result = document.createElement("pre"); result.id = "said"; result.textContent = JSON.stringify(said);
document.body.appendChild(result);
</script>"""


def browser(folder, *arguments):
    """Without a network: a page that needs one would show it."""
    return subprocess.run([program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}/profile",
                           "--host-resolver-rules=MAP * ~NOTFOUND", *arguments],
                          check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120).stdout


def page_of(lesson, path):
    subprocess.run([SHARDLAB, "lesson", *lesson, "--html", path, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    with open(path, encoding="utf-8") as file:
        return file.read()


def looked_at(folder, page, width):
    path = os.path.join(folder, "looked-at.html")
    with open(path, "w", encoding="utf-8") as file:
        file.write(page.replace("</body>", LOOK + "</body>"))
    dom = browser(folder, f"--window-size={width},900", "--dump-dom", f"file://{path}")
    return json.loads(html.unescape(re.search(r'<pre id="said">(.*?)</pre>', dom, re.DOTALL).group(1)))


def photograph(folder, page, name, width, height):
    path = os.path.join(folder, "opened.html")
    with open(path, "w", encoding="utf-8") as file:
        file.write(page.replace("<details", "<details open"))
    browser(folder, f"--window-size={width},{height}", f"--screenshot={name}", f"file://{path}")


parser = argparse.ArgumentParser()
parser.add_argument("--pictures", metavar="FOLDER")
parser.add_argument("lessons", nargs="*", metavar="LESSON")
options = parser.parse_args()
program = next(filter(None, map(shutil.which, BROWSERS)), None)
if program is None:
    print("skipped: no browser here (Debian: chromium)")
    sys.exit(77)
failures = []
with tempfile.TemporaryDirectory() as folder:
    for lesson in [[name] for name in options.lessons] or [[]]:
        page = page_of(lesson, os.path.join(folder, "page.html"))
        if re.search(r"<(?:img|script|link|iframe)\b|url\(", page):
            failures.append(f"{lesson or 'the course'}: the page is not self-contained")
        for width in WIDTHS:
            said = looked_at(folder, page, width)
            print(f"  {' '.join(lesson) or 'the course'}, {width} pixels wide: {said['open']} answers open, {said['height']} pixels high")
            if not said["open"]:
                failures.append(f"{width}: nothing can be opened")
            for what in ("wide", "empty", "links", "unopened"):
                if said[what]:
                    failures.append(f"{lesson or 'the course'}, {width} pixels wide: {what}: {said[what]}")
            if options.pictures:
                os.makedirs(options.pictures, exist_ok=True)
                name = os.path.join(options.pictures, f"{'-'.join(lesson) or 'course'}-{width}.png")
                photograph(folder, page, name, width, min(said["height"], 16000))
print("\n".join(failures) or "the pages are as they should be")
sys.exit(1 if failures else 0)

#!/usr/bin/python3
"""Measures how soon the explorer shows something, and what its files weigh:  tests/explorer/speed.py   (make explorer-speed)

Prints medians of several loads, each in a new context without a cache, in milliseconds from the navigation: until the first
plot has its curve, until the block has moved, and until the still is complete for readers who prefer reduced motion; then
the time that a frame of a batch takes, and the bytes of the files. Bars: a plot within 600 ms, motion within 1 s, a frame
of 2,000 contacts within 300 ms, 120 kB for the first view, 250 kB for everything. Needs an idle machine."""
import statistics
import urllib.request

import conftest

LOADS = 9
# Before the page's own scripts: notes when the conditions first hold.
WATCH = """() => {
    window.seen = {};
    let first = null;
    const look = () => {
        const now = performance.now(), scene = document.querySelector("#start-scene polygon.block")?.getAttribute("points");
        first ??= scene;
        if (document.querySelector("svg.curve path.line")) window.seen.plot ??= now;
        if (scene && scene !== first && document.querySelector("#start-plot .moving")) window.seen.motion ??= now;
        if (document.querySelector("#start-plot .moving") && document.querySelector("#start-scene .arrow.force")
            && document.querySelector("#sentence strong")) window.seen.still ??= now;
        requestAnimationFrame(look);
    };
    look();
}"""


def load(page, base, wanted, **options):
    page.run("""await state.context?.close();
        state.context = await state.browser.newContext(given.options);
        state.page = await state.context.newPage();
        state.asked = [];
        state.page.on("request", (request) => state.asked.push(request.url()));
        await state.page.addInitScript(state.read(given.watch));
        await state.page.goto(given.url);
        await state.page.waitForFunction((name) => window.seen[name], given.wanted)""",
             url=base + "/", watch=WATCH, wanted=wanted, options={"viewport": {"width": 1280, "height": 900}, **options})
    return page.see("() => window.seen")


def size(url):
    with urllib.request.urlopen(url) as answer:
        return len(answer.read())


def main():
    process, base = conftest.servers.start()
    browser = conftest.Browser()
    page = conftest.Page(browser, base)
    loads = [load(page, base, "motion") for _ in range(LOADS)]
    files = {url for url in page.run("return state.asked") if "/v1/" not in url}
    stills = [load(page, base, "still", reducedMotion="reduce") for _ in range(LOADS)]
    for words, found in (("first plot", [each["plot"] for each in loads]), ("the block moves", [each["motion"] for each in loads]),
                         ("complete still", [each["still"] for each in stills])):
        print(f"{words:34}{statistics.median(found):8.0f} ms   (slowest {max(found):.0f})")
    page.open("/#v1/batch", settled=False)
    for name in ("many", "crowd"):
        page.idle()
        page.run("await state.page.selectOption('#batch-example', given.name)", name=name)
        page.idle()
        frames = []
        for _ in range(LOADS):
            page.press("#batch-scene", "ArrowLeft")
            frames.append(float(page.see("""() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
                done(document.querySelector("#batch-scene").dataset.ms))))""")))
        print(f"a frame of {page.text('#batch-summary').split()[0]} contacts".ljust(34) + f"{statistics.median(frames):8.0f} ms   (slowest {max(frames):.0f})")
    everything = [base + "/", *(f"{base}/explorer/{path.name}" for path in (conftest.servers.ROOT / "web").iterdir() if path.name != "index.html")]
    print(f"{'files of the first view':34}{sum(size(url.partition('#')[0]) for url in files) / 1000:8.1f} kB")
    print(f"{'all files':34}{sum(map(size, everything)) / 1000:8.1f} kB")
    browser.close()
    conftest.servers.stop(process)


if __name__ == "__main__":
    main()

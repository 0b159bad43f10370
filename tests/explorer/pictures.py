#!/usr/bin/python3
"""Retakes the pictures of docs/explorer.md, from build/frictiond:  tests/explorer/pictures.py

make explorer-test installs what it needs."""
import conftest

PICTURES = conftest.servers.ROOT / "docs/pictures"


def main():
    process, base = conftest.servers.start()
    browser = conftest.Browser()
    page = conftest.Page(browser, base)
    def take(name, what="state.page"):
        page.idle()
        page.run(f"await {what}.screenshot({{path: given.path}})", path=str(PICTURES / f"explorer{name}.png"))

    page.open("/", settled=False, viewport={"width": 1100, "height": 640}, reducedMotion="reduce")
    take("")
    page.open(viewport={"width": 1000, "height": 640})
    take("-laws")
    page.run("await state.page.selectOption('#friction-law', 'curve')")
    take("-curve")
    page.open("/#v1/motion", settled=False, viewport={"width": 1100, "height": 1130}, reducedMotion="reduce")
    page.run("await state.page.selectOption('#motion-kind', 'oscillator')")
    take("-motion")
    page.open("/#v1/batch", settled=False, viewport={"width": 1280, "height": 880})
    page.run("await state.page.waitForTimeout(300); await state.page.click('#batch-table tr[data-row=\"3\"]')")
    page.see("() => { document.activeElement.blur(); scrollTo({top: 0, behavior: 'instant'}); }")
    take("-batch")
    page.open(viewport={"width": 1060, "height": 900})
    page.fill(angle=30, speed=0.5)
    page.see("() => document.activeElement.blur()")
    take("-incline", "state.page.locator('#incline .bench')")
    browser.close()
    conftest.servers.stop(process)


if __name__ == "__main__":
    main()

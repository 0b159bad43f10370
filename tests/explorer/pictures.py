#!/usr/bin/python3
"""Retakes the pictures of docs/explorer.md, from build/frictiond:  tests/explorer/pictures.py

make explorer-test installs what it needs."""
import conftest

PICTURES = conftest.servers.ROOT / "docs/pictures"


def main():
    process, base = conftest.servers.start()
    browser = conftest.Browser()
    page = conftest.Page(browser, base)
    page.open(viewport={"width": 1000, "height": 640})
    page.run("await state.page.screenshot({path: given.path})", path=str(PICTURES / "explorer.png"))
    page.run("await state.page.selectOption('#friction-law', 'curve')")
    page.idle()
    page.run("await state.page.screenshot({path: given.path})", path=str(PICTURES / "explorer-curve.png"))
    page.open(viewport={"width": 1060, "height": 900}, colorScheme="dark")
    page.fill(angle=30, speed=0.5)
    page.see("() => document.activeElement.blur()")
    page.idle()
    page.run("await state.page.locator('#incline .bench').screenshot({path: given.path})",
             path=str(PICTURES / "explorer-incline.png"))
    browser.close()
    conftest.servers.stop(process)


if __name__ == "__main__":
    main()

/* Runs before the page is drawn: the theme that the reader has chosen. */
"use strict";
try {
	const theme = localStorage.getItem("frictiond-theme");
	if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
} catch (error) {
	/* storage may be off: the system's theme applies */
}

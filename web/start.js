export const title = "Start";

export function mount(root) {
	root.innerHTML = "<h2>Start</h2><p>This view is being built.</p>";
	return {state: () => ({}), restore() {}};
}

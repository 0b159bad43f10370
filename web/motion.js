export const title = "Motion";

export function mount(root) {
	root.innerHTML = "<h2>Motion</h2><p>This view is being built.</p>";
	return {state: () => ({}), restore() {}};
}

export const title = "Batch";

export function mount(root) {
	root.innerHTML = "<h2>Batch</h2><p>This view is being built.</p>";
	return {state: () => ({}), restore() {}};
}

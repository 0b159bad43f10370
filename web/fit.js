export const title = "Fit";

export function mount(root) {
	root.innerHTML = "<h2>Fit</h2><p>This view is being built.</p>";
	return {state: () => ({}), restore() {}};
}

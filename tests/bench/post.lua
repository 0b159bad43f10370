-- For wrk: METHOD, TYPE (of the content) and BODY (name of a file) in the environment; the result is one line of JSON.
-- done(): latencies in microseconds, durations too.
wrk.method = os.getenv("METHOD")
if wrk.method == "POST" then
	local file = assert(io.open(os.getenv("BODY"), "rb"))
	wrk.body = file:read("*a")
	file:close()
	wrk.headers["Content-Type"] = os.getenv("TYPE")
end

function done(summary, latency)
	local e = summary.errors
	io.write(string.format(
		'\n{"requests": %d, "seconds": %.6f, "p50_us": %.1f, "p99_us": %.1f, "refused": %d, "broken": %d}\n',
		summary.requests, summary.duration / 1e6, latency:percentile(50), latency:percentile(99), e.status,
		e.connect + e.read + e.write + e.timeout))
end

/* frictiond health against a server in this test that sends fixed responses. Cases that take time are in
 * tests/integration/test_health.py. */
#undef _FORTIFY_SOURCE
#include "server/commands/health.h"

#include "server/listen/unix_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static char *out, *err;
static char query[1024];

static int ask(const struct srv_options *options)
{
	size_t n;
	free(out);
	free(err);
	FILE *to = open_memstream(&out, &n), *faults = open_memstream(&err, &n);
	const int code = srv_health(options, to, faults);
	fclose(to);
	fclose(faults);
	return code;
}

static struct srv_options options_for(const char *host, long long port)
{
	return (struct srv_options){.host = host, .port = port, .command = SRV_HEALTH, .timeout_seconds = 60};
}

struct server {
	int listener;
	const char *answer;
};

static void *serve(void *closure)
{
	const struct server *server = closure;
	const int fd = accept(server->listener, NULL, NULL);
	size_t n = 0;
	memset(query, 0, sizeof query);
	while (n + 1 < sizeof query && !strstr(query, "\r\n\r\n"))
		n += (size_t)recv(fd, query + n, sizeof query - 1 - n, 0);
	send(fd, server->answer, strlen(server->answer), MSG_NOSIGNAL);
	close(fd);
	return NULL;
}

static int listen_somewhere(long long *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof address;
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, bytes), 0);
	assert_int_equal(listen(fd, 4), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &bytes), 0);
	*port = ntohs(address.sin_port);
	return fd;
}

/* @return the exit code when the server sends this response */
static int code_of(const char *host, const char *answer, bool ready)
{
	struct server server = {.answer = answer};
	long long port;
	pthread_t thread;
	server.listener = listen_somewhere(&port);
	struct srv_options options = options_for(host, port);
	options.ready = ready;
	pthread_create(&thread, NULL, serve, &server);
	const int code = ask(&options);
	pthread_join(thread, NULL);
	close(server.listener);
	return code;
}

static void test_status(void **state)
{
	(void)state;
	static const char *const wrong[] = {"",
	                                    "HTTP/1.1",
	                                    "HTTP/1.1 20",
	                                    "HTTP/1.1 200",
	                                    "HTTP/1.1 2000\r\n",
	                                    "HTTP/2.0 200 \r\n",
	                                    "http/1.1 200 OK\r\n",
	                                    "HTTP/1.1  200 OK\r\n",
	                                    "HTTP/1.1 -20 OK\r\n",
	                                    "SSH-2.0-x\r\n"};
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		assert_int_equal(srv_health_status(wrong[i], strlen(wrong[i])), 0);
	assert_int_equal(srv_health_status("HTTP/1.1 200 OK\r\n", 17), 200);
	assert_int_equal(srv_health_status("HTTP/1.0 503\r\n", 14), 503);
	assert_int_equal(srv_health_status("HTTP/1.1 200 OK\r\n", 12), 0);
}

static void test_healthy(void **state)
{
	(void)state;
	assert_int_equal(code_of("127.0.0.1", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false), SRV_CODE_OK);
	assert_string_equal(err, "");
	assert_true(strncmp(out, "healthy: http://127.0.0.1:", 26) == 0 && strstr(out, "/healthz returned 200\n"));
	assert_true(strncmp(query, "GET /healthz HTTP/1.1\r\nHost: localhost:", 39) == 0);
	assert_int_equal(code_of("127.0.0.1", "HTTP/1.1 200 OK\r\n\r\n", true), SRV_CODE_OK);
	assert_true(strncmp(query, "GET /readyz HTTP/1.1\r\n", 22) == 0);
}

/* A server on all addresses is reached by loopback. */
static void test_all_addresses(void **state)
{
	(void)state;
	static const char *const hosts[] = {"0.0.0.0", "::", "0", "::ffff:0.0.0.0", "localhost", "::ffff:127.0.0.1"};
	for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
		assert_int_equal(code_of(hosts[i], "HTTP/1.1 200 OK\r\n\r\n", false), SRV_CODE_OK);
		assert_non_null(strstr(out, "http://127.0.0.1:"));
	}
}

/* The server's Unix-domain socket takes precedence over its port, and never uses TLS. */
static void test_unix_domain_socket(void **state)
{
	(void)state;
	char path[] = "/tmp/health-XXXXXX";
	struct srv_socket_file file;
	struct srv_listen_fault fault;
	pthread_t thread;
	close(mkstemp(path));
	unlink(path);
	struct server server = {srv_unix_listen(path, 0600, &file, &fault), "HTTP/1.1 200 OK\r\n\r\n"};
	fcntl(server.listener, F_SETFL, 0);
	struct srv_options options = options_for("nowhere.invalid", 0);
	options.unix_path = path;
	options.gate.tls_cert = "certificate";
	pthread_create(&thread, NULL, serve, &server);
	assert_int_equal(ask(&options), SRV_CODE_OK);
	pthread_join(thread, NULL);
	assert_non_null(strstr(query, "\r\nHost: localhost\r\n"));
	assert_true(strncmp(out, "healthy: http+unix:///tmp/health-", 33) == 0 && strstr(out, "/healthz returned 200\n"));
	srv_unix_remove(&file);
	close(server.listener);
	assert_int_equal(ask(&options), SRV_CODE_FAILED);
	assert_non_null(strstr(err, path));
	assert_non_null(strstr(err, "cannot be reached: No such file"));
}

static void is_not_healthy(const char *answer, const char *why)
{
	assert_int_equal(code_of("127.0.0.1", answer, true), SRV_CODE_FAILED);
	assert_string_equal(out, "");
	assert_true(strncmp(err, "frictiond: not healthy: ", 24) == 0 && strchr(err, '\n') == err + strlen(err) - 1);
	assert_non_null(strstr(err, why));
}

static void test_not_healthy(void **state)
{
	(void)state;
	is_not_healthy("HTTP/1.1 503 Service Unavailable\r\n\r\n", "/readyz returned 503");
	is_not_healthy("HTTP/1.1 204 No Content\r\n\r\n", "returned 204");
	is_not_healthy("SSH-2.0-OpenSSH\r\n", "does not speak HTTP");
	is_not_healthy("\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "does not speak HTTP");
	is_not_healthy("HTTP/1.1 200 OK\r\nContent-", "a head that does not end");
	is_not_healthy("", "closes without an answer");
}

/* An endless head is read until the buffer is full. */
static void test_endless_head(void **state)
{
	(void)state;
	char *answer = malloc(100001);
	memset(answer, 'a', 100000);
	memcpy(answer, "HTTP/1.1 200 OK\r\nA: ", 20);
	answer[100000] = '\0';
	is_not_healthy(answer, "a head that does not end");
	free(answer);
}

static void test_no_listener(void **state)
{
	(void)state;
	long long port;
	const int fd = listen_somewhere(&port);
	close(fd);
	struct srv_options options = options_for("127.0.0.1", port);
	assert_int_equal(ask(&options), SRV_CODE_FAILED);
	assert_non_null(strstr(err, "cannot be reached: Connection refused"));
	options.port = 0;
	assert_int_equal(ask(&options), SRV_CODE_FAILED);
	assert_non_null(strstr(err, "--port 0"));
	options.port = -1;
	assert_int_equal(ask(&options), SRV_CODE_FAILED);
	assert_non_null(strstr(err, "--port none needs --unix PATH"));
	options = options_for("no host", 1);
	assert_int_equal(ask(&options), SRV_CODE_FAILED);
	assert_non_null(strstr(err, "no host: "));
}

/* Another machine's address is not contacted, even if something listens there, because it cannot be this server. */
static void test_other_machines(void **state)
{
	(void)state;
	struct srv_options options = options_for("192.0.2.1", 80);
	assert_int_equal(ask(&options), SRV_CODE_FAILED);
	assert_non_null(strstr(err, "192.0.2.1:80 cannot be reached: Cannot assign requested address"));
}

static int forget(void **state)
{
	(void)state;
	free(out);
	free(err);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status),         cmocka_unit_test(test_healthy),
		cmocka_unit_test(test_all_addresses),  cmocka_unit_test(test_not_healthy),
		cmocka_unit_test(test_endless_head),   cmocka_unit_test(test_no_listener),
		cmocka_unit_test(test_other_machines), cmocka_unit_test(test_unix_domain_socket),
	};
	return cmocka_run_group_tests(tests, NULL, forget);
}

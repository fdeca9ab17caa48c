/* The least that a helper between a program and Redis costs: what comes by a Unix socket goes to
 * Redis as it is, and the answer back, by calls that block. One client, one connection.
 *
 * relay SOCKET PORT: writes a line when it listens, and ends with its client. A request is one
 * GET as Redis' protocol has it, which comes in one piece. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MOST = 4 << 20 };

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

static int connect_redis(int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
		fail("relay: redis");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	return fd;
}

static int accept_client(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	strncpy(at.sun_path, path, sizeof at.sun_path - 1);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, 1) != 0)
		fail("relay: socket");
	puts("ready");
	fflush(stdout);
	int client = accept(fd, NULL, NULL);
	if (client < 0)
		fail("relay: client");
	return client;
}

/* Send all of it; the kernel takes a large answer in parts. */
static void send_all(int fd, const char *from, size_t n)
{
	while (n > 0) {
		ssize_t sent = write(fd, from, n);
		if (sent <= 0)
			fail("relay: write");
		from += sent;
		n -= (size_t)sent;
	}
}

/* Read "$SIZE\r\n", a value and "\r\n", into buffer; return how much that is. */
static size_t read_answer(int fd, char *buffer)
{
	size_t have = 0, want = MOST;
	while (have < want) {
		ssize_t n = read(fd, buffer + have, MOST - have);
		if (n <= 0)
			fail("relay: read");
		have += (size_t)n;
		char *end = want == MOST ? memchr(buffer, '\n', have) : NULL;
		if (end != NULL)
			want = (size_t)(end + 1 - buffer) + strtoul(buffer + 1, NULL, 10) + 2;
	}
	return have;
}

int main(int count, char **words)
{
	if (count != 3)
		return 2;
	char *buffer = malloc(MOST);
	int redis = connect_redis(atoi(words[2])), client = accept_client(words[1]);
	ssize_t n;
	while ((n = read(client, buffer, MOST)) > 0) {
		send_all(redis, buffer, (size_t)n);
		send_all(client, buffer, read_answer(redis, buffer));
	}
	return 0;
}

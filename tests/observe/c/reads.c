/* reads prints a file and who runs it, and asks for the time: reads FILE. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char text[256];
	struct stat st;
	int fd = argc < 2 ? -1 : open(argv[1], O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
	if (n < 0 || stat("/none/that/is", &st) == 0)
		return 1;
	printf("%.*s", (int)n, text);
	printf("%d %d\n", (int)geteuid(), time(NULL) > 0);
	return 0;
}

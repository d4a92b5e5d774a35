/* halfulpblas-helper LIBRARY: does the calls of a process that fork has made (fork.c), which come
 * through file 3. LIBRARY is the drop-in BLAS. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* close_others closes the files that this program has by inheritance: pipes whose readers wait for
 * their end. */
static void close_others(void) {
#ifdef SYS_close_range
	if (syscall(SYS_close_range, 4U, ~0U, 0U) == 0)
		return;
#endif
	long most = sysconf(_SC_OPEN_MAX);
	for (int file = 4; file < (most > 0 && most < 65536 ? most : 65536); file++)
		close(file);
}

int main(int argc, char **argv) {
	if (argc != 2) {
		fprintf(stderr, "usage: halfulpblas-helper LIBRARY (libhalfulpblas starts it in a process that fork has made)\n");
		return 2;
	}
	close_others();
	pid_t pid = fork();
	if (pid != 0)
		_exit(pid < 0);
	void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	void (*serve)(int);
	if (!library || !(*(void **)&serve = dlsym(library, "halfulp_blas_serve"))) {
		fprintf(stderr, "halfulpblas-helper: %s\n", dlerror());
		_exit(1);
	}
	serve(3);
	_exit(0);
}

/* The library loaded at run time: by a child of a fork before, and again after dlclose. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* works loads the library and computes with it. */
static int works(const char *name, void **library) {
	*library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!*library) {
		printf("%s\n", dlerror());
		return 0;
	}
	int (*parse)(const char *, const char *, uint64_t *) = (int (*)(const char *, const char *, uint64_t *))dlsym(*library, "halfulp_scalar_from_text");
	int (*number)(uint64_t, double *) = (int (*)(uint64_t, double *))dlsym(*library, "halfulp_scalar_get_f64");
	int (*release)(uint64_t) = (int (*)(uint64_t))dlsym(*library, "halfulp_free");
	uint64_t s;
	double x;
	return parse("0.5", "mp:100", &s) == 0 && number(s, &x) == 0 && x == 0.5 && release(s) == 0;
}

int main(int count, char **arguments) {
	if (count < 2)
		return 2;
	void *library;
	pid_t child = fork();
	if (child == 0) {
		alarm(20);
		_exit(!works(arguments[1], &library));
	}
	int status;
	waitpid(child, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		printf("the child of a fork before the library was loaded: status %#x\n", status);
		return 1;
	}
	for (int i = 0; i < 3; i++) { /* dlclose leaves the library, whose threads run */
		if (!works(arguments[1], &library)) {
			printf("not after %d times of dlclose\n", i);
			return 1;
		}
		dlclose(library);
	}
	printf("passed\n");
	return 0;
}

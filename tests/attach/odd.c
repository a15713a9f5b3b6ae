/* A program with peculiarities, for psn to be attached to: the first argument says which. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void* sleeps(void* nothing) {
  for (;;) sleep(1000);
  return nothing;
}

static void* draws(void* number) {
  *(double*)number = drand48();
  return NULL;
}

static void start(void* (*work)(void*), void* argument, int wait) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, argument);
  if (wait) pthread_join(thread, NULL);
}

/* Sends what is no packet, or none that was asked for. */
static void abuse(unsigned seed) {
  static char bytes[100000];
  const char* words = getenv("PSN_ATTACH");
  const int engine = words ? atoi(words) : -1;
  for (int i = 0; engine >= 0 && i < 200; ++i) {
    unsigned* head = (unsigned*)bytes;
    for (size_t k = 0; k < sizeof(bytes); ++k) {
      seed = seed * 1664525u + 1013904223u;
      bytes[k] = (char)(seed >> 24);
    }
    if (i % 2) head[0] = 0x314E5350u; /* a right beginning */
    if (i % 4 == 3) head[1] = (unsigned)i / 4 % 6;
    if (i % 8 == 7) head[6] = head[7] = 0;
    send(engine, bytes, i % 8 == 7 ? 32 : seed % sizeof(bytes), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
}

static void spend(double seconds) {
  const clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
  while (clock() < end) continue;
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  double more = 0;
  char line[64] = "";
  FILE* file = NULL;
  if (strcmp(mode, "exits") == 0) return 3;
  if (strcmp(mode, "threads") == 0) start(sleeps, NULL, 0);
  if (strcmp(mode, "socket") == 0) socket(AF_UNIX, SOCK_STREAM, 0);
  if (strcmp(mode, "writes") == 0) file = fopen("out.csv", "w");
  if (strcmp(mode, "wrote") == 0) fclose(fopen("log.txt", "w"));
  if (strcmp(mode, "reads") == 0) {
    file = fopen("input.txt", "r");
    setvbuf(file, NULL, _IONBF, 0);
    fgets(line, sizeof(line), file);
  }
  if (strcmp(mode, "hostile") == 0) abuse(argc > 2 ? (unsigned)atoi(argv[2]) : 1);
  if (strcmp(mode, "slow") == 0) spend(0.05);
  printf("begins\n");
  const double u = drand48();
  if (strcmp(mode, "draws") == 0) start(draws, &more, 1);
  if (strcmp(mode, "forks") == 0 && fork() == 0) _exit(drand48() < 2);
  if (strcmp(mode, "runs") == 0) system("echo from a child");
  if (strcmp(mode, "dies") == 0 && u < 0.3) raise(SIGSEGV);
  if (strcmp(mode, "fails") == 0 && u < 0.3) exit(5);
  if (strcmp(mode, "code") == 0) exit((int)(u * 10));
  while (strcmp(mode, "endless") == 0) puts("and so on and so on and so on and so on and so on");
  if (strcmp(mode, "hangs") == 0 && u < 0.3) sleep(1000);
  if (strcmp(mode, "leaves") == 0 && fork() == 0) sleeps(NULL);
  if (strcmp(mode, "reads") == 0) fgets(line, sizeof(line), file);
  if (strcmp(mode, "spoils") == 0) file = fopen("input.txt", "w");
  if (strcmp(mode, "appends") == 0) file = fopen("input.txt", "a");
  if (strcmp(mode, "later") == 0) file = fopen("out.csv", "w");
  if (file && strcmp(mode, "reads") != 0) fprintf(file, "a,b\n1,%.17g\n2,%.17g\n", u, 1 + u);
  printf("value %.17g %s\n", u + more, line);
  return 0;
}

// Sends HTTP requests and measures. It asks for events without ever sleeping: a response that wakes a sleeping client on another
// processor costs the server an interrupt of 4 to 6 microseconds, which no network card charges. If the client shares its processor
// with servers, it must sleep: otherwise, it takes the time in which they would work.
//
//   client closed MILLISECONDS 0 CONNECTIONS PORT...     each connection sends its next request as soon as it has a response
//   client sleeping MILLISECONDS 0 CONNECTIONS PORT...   the same, but the client sleeps until a response arrives
//   client walk PAGES 0 CONNECTIONS PORT...              each connection follows the links to the next page from its own request
//   client paced MILLISECONDS RATE CONNECTIONS PORT...   so many requests are due per second
//
// Input: the number of requests, and for each of them a line with the expected status and the length, and its text. After the
// output "{}", any further byte begins the run. Then the output is one line of JSON, with times in seconds.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CONNECTIONS = 1024, BUFFER = 1 << 20, PATIENCE_SECONDS = 30 };

struct request {
  int status, length;
  char *text;
};

struct connection {
  int fd, status, pages;
  double due;
  size_t received;
  char *buffer;
};

static struct connection connections[MOST_CONNECTIONS], *idle[MOST_CONNECTIONS];
static struct request *requests;
static int connection_count, idle_count, request_count, next_request, poll_fd, sleep_milliseconds;

static void fail(const char *what, const char *detail) {
  fprintf(stderr, "the load client failed, %s: %.300s\n", what, detail);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

static void read_requests(void) {
  if (scanf("%d", &request_count) != 1 || request_count < 1) fail("input", "expected the number of requests");
  requests = calloc(request_count, sizeof *requests);
  for (struct request *one = requests; one < requests + request_count; one++) {
    if (scanf("%d %d", &one->status, &one->length) != 2 || getchar() != '\n') fail("input", "expected status and length");
    one->text = calloc(1, one->length + 1);
    if (fread(one->text, 1, one->length, stdin) != (size_t)one->length) fail("input", "expected the text of a request");
  }
}

static void connect_all(char **ports, int port_count) {
  poll_fd = epoll_create1(0);
  for (int i = 0; i < connection_count; i++) {
    struct connection *one = &connections[i];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(ports[i % port_count]))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    one->buffer = malloc(BUFFER);
    one->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(one->fd, (struct sockaddr *)&address, sizeof address) != 0) fail("connect", strerror(errno));
    setsockopt(one->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    epoll_ctl(poll_fd, EPOLL_CTL_ADD, one->fd, &(struct epoll_event){.events = EPOLLIN, .data.ptr = one});
  }
}

/** A request is shorter than the empty buffer of a socket, so it is written at once. */
static void send_text(struct connection *to, const char *text, int length) {
  to->received = 0;
  if (write(to->fd, text, length) != length) fail("write", strerror(errno));
}

static void send_next(struct connection *to) {
  struct request *one = &requests[next_request++ % request_count];
  to->status = one->status;
  send_text(to, one->text, one->length);
}

/** Reads what has arrived, and returns whether the response is complete. */
static int receive(struct connection *from) {
  ssize_t length = read(from->fd, from->buffer + from->received, BUFFER - 1 - from->received);
  if (length <= 0) fail("read", length == 0 ? "the server has ended a connection" : strerror(errno));
  from->received += length;
  from->buffer[from->received] = 0;
  char *head_end = strstr(from->buffer, "\r\n\r\n");
  if (head_end == NULL) return 0;
  if (atoi(from->buffer + strlen("HTTP/1.1 ")) != from->status) fail("wrong response", from->buffer);
  char *name = strcasestr(from->buffer, "\ncontent-length:");
  char *end = from->buffer + from->received;
  if (name == NULL || name > head_end) return memcmp(end - 5, "0\r\n\r\n", 5) == 0;
  return end >= head_end + 4 + atol(name + strlen("\ncontent-length:"));
}

/** Sends the request for the next page. Returns 0 if there is none. */
static int follow_link(struct connection *one) {
  char *end = strstr(one->buffer, ">; rel=\"next\"");
  if (end == NULL || --one->pages == 0) return 0;
  *end = 0;
  char text[4096];
  int length = snprintf(text, sizeof text, "GET %s%s", strrchr(one->buffer, '<') + 1, strstr(requests->text, " HTTP/1.1"));
  send_text(one, text, length);
  return 1;
}

/** Waits for one response on each connection that has sent a request. */
static void receive_all(int waiting) {
  struct epoll_event event;
  while (waiting > 0)
    if (epoll_wait(poll_fd, &event, 1, sleep_milliseconds) == 1 && receive(event.data.ptr)) waiting--;
}

static int compare(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

int main(int argc, char **argv) {
  if (argc < 6 || atoi(argv[4]) > MOST_CONNECTIONS) fail("arguments", "see the source");
  const int is_walk = strcmp(argv[1], "walk") == 0, is_paced = strcmp(argv[1], "paced") == 0;
  if (strcmp(argv[1], "sleeping") == 0) sleep_milliseconds = 1000;
  const double amount = atof(argv[2]), rate = atof(argv[3]);
  const long total = is_paced ? amount / 1000 * rate : 0;
  double *latencies = calloc(total + 1, sizeof *latencies);
  connection_count = atoi(argv[4]);
  read_requests();
  connect_all(argv + 5, argc - 5);

  // The servers have accepted a connection when they respond.
  for (int i = 0; i < connection_count; i++) send_next(idle[idle_count++] = &connections[i]);
  receive_all(connection_count);
  puts("{}");
  fflush(stdout);
  getchar();

  long count = 0, sent = 0;
  int active = connection_count;
  next_request = 0;
  const double started_at = now(), until = started_at + (is_walk ? 0 : amount / 1000);
  if (!is_paced)
    for (int i = 0; i < connection_count; i++) {
      connections[i].pages = amount;
      send_next(&connections[i]);
    }
  struct epoll_event events[MOST_CONNECTIONS];
  while (is_paced ? count < total : active > 0) {
    double time = now();
    if (time > until + PATIENCE_SECONDS) fail("time", "responses are missing");
    for (double due; sent < total && idle_count > 0 && (due = started_at + sent / rate) <= time; sent++) {
      idle[--idle_count]->due = due;
      send_next(idle[idle_count]);
    }
    int ready = epoll_wait(poll_fd, events, MOST_CONNECTIONS, sleep_milliseconds);
    for (int i = 0; i < ready; i++) {
      struct connection *one = events[i].data.ptr;
      if (!receive(one)) continue;
      if (is_paced) latencies[count] = now() - (idle[idle_count++] = one)->due;
      else if (!is_walk && now() < until) send_next(one);
      else if (!is_walk || !follow_link(one)) {
        // Servers end a connection that is idle for seconds.
        epoll_ctl(poll_fd, EPOLL_CTL_DEL, one->fd, NULL);
        active--;
      }
      count++;
    }
  }
  double seconds = now() - started_at;
  qsort(latencies, total, sizeof *latencies, compare);
  printf("{\"count\":%ld,\"seconds\":%.6f", count, seconds);
  for (int i = 0; is_paced && i < 4; i++)
    printf(",\"%s\":%.6f", (char *[]){"p50", "p90", "p99", "p999"}[i],
           latencies[(long)(total * (double[]){0.5, 0.9, 0.99, 0.999}[i])]);
  puts("}");
  fflush(stdout);
  // The bench reads the CPU time before the connections close.
  while (getchar() != EOF) {}
}

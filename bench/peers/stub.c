/* DynamoDB for benchmarks: canned answers, fast enough that servers are measured and not this.
 *
 *   stub RECORDINGS [MICROSECONDS]     prints its port and ends with its standard input
 *
 * It answers at once, or so many microseconds after a request has come.
 * A line of the recordings is an operation, a text that the request holds, and the answer, with tabs between them; the
 * first that fits is sent. They were recorded for tenant `acme`; tenants `t000` to `t999` get them in their own name.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define TENANTS 1000
#define BUFFER 262144
#define ANSWERS 32
#define LATE 65536

typedef struct { char *bytes; size_t size; } Text;
typedef struct { char *operation, *mark, *body; Text of[TENANTS]; } Answer;
typedef struct { size_t filled; char bytes[BUFFER + 1]; } Connection;
typedef struct { long long due; int socket; Connection *connection; Text *text; } Late;

static Answer answers[ANSWERS];
static int known;
static Connection *connections[65536];
/* Answers that wait, in the order in which they are due: all wait for the same time. */
static Late late[LATE];
static size_t first_late, late_count;
static long long latency; /* nanoseconds */
static int timer;

static unsigned crc32(const char *bytes, size_t size) {
  unsigned crc = ~0u;
  for (size_t i = 0; i < size; i++) {
    crc ^= (unsigned char)bytes[i];
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (0xEDB88320u & -(crc & 1));
  }
  return ~crc;
}

static void load(const char *path) {
  FILE *file = fopen(path, "r");
  char *line = NULL;
  size_t room = 0;
  if (!file) { perror(path); exit(1); }
  while (getline(&line, &room, file) > 0 && known < ANSWERS) {
    char *rest = strdup(line);
    answers[known].operation = strsep(&rest, "\t");
    answers[known].mark = strsep(&rest, "\t");
    answers[known++].body = strsep(&rest, "\n");
  }
  fclose(file);
}

static Text *answer_for(Answer *answer, int tenant) {
  Text *text = &answer->of[tenant];
  if (text->bytes) return text;
  char name[5], *body = strdup(answer->body);
  size_t size = strlen(body);
  snprintf(name, sizeof name, "t%03d", tenant);
  for (char *at = body; (at = strstr(at, "TENANT#acme#")); at += 12) memcpy(at + 7, name, 4);
  text->size = asprintf(&text->bytes,
    "HTTP/1.1 200 OK\r\nServer: Server\r\nDate: Mon, 16 Nov 2026 10:20:30 GMT\r\n"
    "Content-Type: application/x-amz-json-1.0\r\nContent-Length: %zu\r\nConnection: keep-alive\r\n"
    "x-amzn-RequestId: 0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ABCDEF\r\nx-amz-crc32: %u\r\n\r\n%s",
    size, crc32(body, size), body);
  free(body);
  return text;
}

static Text *find(char *head, char *body, size_t size) {
  char *target = strcasestr(head, "x-amz-target: DynamoDB_20120810."), *key = memmem(body, size, "TENANT#t", 8);
  int tenant = key ? atoi((char[]){key[8], key[9], key[10], 0}) : 0;
  for (int i = 0; target && i < known; i++) {
    size_t length = strlen(answers[i].operation);
    if (!strncmp(target + 32, answers[i].operation, length) && target[32 + length] == '\r' &&
        memmem(body, size, answers[i].mark, strlen(answers[i].mark)))
      return answer_for(&answers[i], tenant);
  }
  fprintf(stderr, "no answer for %.300s\n%.*s\n", head, (int)size, body);
  exit(1);
}

static void send_all(int socket, Text *text) {
  for (size_t sent = 0; sent < text->size;) {
    ssize_t step = write(socket, text->bytes + sent, text->size - sent);
    if (step > 0) { sent += step; continue; }
    struct pollfd wait = {socket, POLLOUT, 0};
    if (poll(&wait, 1, 1000) != 1 || wait.revents & (POLLERR | POLLHUP)) return;
  }
}

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void set_timer(void) {
  if (!late_count) return;
  long long due = late[first_late].due;
  struct itimerspec moment = {.it_value = {due / 1000000000LL, due % 1000000000LL}};
  timerfd_settime(timer, TFD_TIMER_ABSTIME, &moment, NULL);
}

static void answer(int socket, Text *text) {
  if (!latency) { send_all(socket, text); return; }
  if (late_count == LATE) { fprintf(stderr, "too many answers wait\n"); exit(1); }
  late[(first_late + late_count) % LATE] = (Late){now() + latency, socket, connections[socket], text};
  if (++late_count == 1) set_timer();
}

static void send_due(void) {
  unsigned long long times;
  if (read(timer, &times, sizeof times) < 0) return;
  for (long long present = now(); late_count && late[first_late].due <= present; late_count--) {
    Late *next = &late[first_late];
    if (connections[next->socket] == next->connection) send_all(next->socket, next->text);
    first_late = (first_late + 1) % LATE;
  }
  set_timer();
}

/* Answers every request that has come whole. */
static void serve(int socket, Connection *connection) {
  for (;;) {
    connection->bytes[connection->filled] = 0;
    char *end = memmem(connection->bytes, connection->filled, "\r\n\r\n", 4);
    if (!end) return;
    end[2] = 0;
    char *length = strcasestr(connection->bytes, "\r\ncontent-length:");
    size_t head = end - connection->bytes + 4, body = length ? strtoul(length + 17, NULL, 10) : 0;
    if (connection->filled < head + body) { end[2] = '\r'; return; }
    answer(socket, find(connection->bytes, connection->bytes + head, body));
    connection->filled -= head + body;
    memmove(connection->bytes, connection->bytes + head + body, connection->filled);
  }
}

static void accept_all(int listening, int loop) {
  for (int one = 1, socket; (socket = accept4(listening, NULL, NULL, SOCK_NONBLOCK)) >= 0;) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = socket};
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    connections[socket] = calloc(1, sizeof(Connection));
    epoll_ctl(loop, EPOLL_CTL_ADD, socket, &event);
  }
}

static void receive(int socket) {
  Connection *connection = connections[socket];
  ssize_t size = read(socket, connection->bytes + connection->filled, BUFFER - connection->filled);
  if (size <= 0) {
    close(socket);
    free(connection);
    connections[socket] = NULL;
    return;
  }
  connection->filled += size;
  serve(socket, connection);
}

int main(int count, char **arguments) {
  if (count != 2 && count != 3) return 2;
  load(arguments[1]);
  if (count == 3) latency = atoll(arguments[2]) * 1000;
  signal(SIGPIPE, SIG_IGN);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int listening = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), loop = epoll_create1(0);
  if (bind(listening, (struct sockaddr *)&address, size) || listen(listening, 1024)) { perror("bind"); return 1; }
  getsockname(listening, (struct sockaddr *)&address, &size);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  struct epoll_event events[256], event = {.events = EPOLLIN, .data.fd = listening};
  epoll_ctl(loop, EPOLL_CTL_ADD, listening, &event);
  event.data.fd = STDIN_FILENO;
  epoll_ctl(loop, EPOLL_CTL_ADD, STDIN_FILENO, &event);
  event.data.fd = timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  epoll_ctl(loop, EPOLL_CTL_ADD, timer, &event);
  for (;;) {
    int ready = epoll_wait(loop, events, 256, -1);
    for (int i = 0; i < ready; i++) {
      if (events[i].data.fd == STDIN_FILENO) return 0;
      if (events[i].data.fd == listening) accept_all(listening, loop);
      else if (events[i].data.fd == timer) send_due();
      else receive(events[i].data.fd);
    }
  }
}

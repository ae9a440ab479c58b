/* The instant agent as a small native program that starts and exits quickly. Answers from a script, as
   agent.rs does. Usage: instant SCRIPT. */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SCRIPT_BYTES = 1 << 20, LINES = 1 << 14, INPUT_BYTES = 1 << 16 };

static char script[SCRIPT_BYTES], input[INPUT_BYTES];
static const char *lines[LINES + 1];

static int begins(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

int main(int count, char **words) {
  static const char turn[] = "{\"type\":\"turn\",\"turn\":", ready[] = "{\"type\":\"ready\",\"again\":true}\n";
  int file = count == 2 ? open(words[1], O_RDONLY) : -1, turns = 0;
  ssize_t bytes = file < 0 ? -1 : read(file, script, SCRIPT_BYTES - 1);
  if (bytes < 0) return 1;
  lines[0] = script;
  for (const char *at = script; turns < LINES && (at = strchr(at, '\n')); )
    lines[++turns] = ++at;
  for (size_t filled = 0;;) {
    ssize_t more = read(0, input + filled, INPUT_BYTES - 1 - filled);
    if (more <= 0) return 0;
    filled += (size_t)more;
    if (input[filled - 1] != '\n') continue;
    input[filled - 1] = 0;
    const char *last = strrchr(input, '\n');
    last = last ? last + 1 : input;
    filled = 0;
    if (begins(last, "{\"type\":\"hello\"")) {
      if (write(1, ready, sizeof ready - 1) < 0) return 0;
    } else if (begins(last, turn)) {
      int number = atoi(last + sizeof turn - 1);
      if (number >= turns) return 1;
      if (write(1, lines[number], (size_t)(lines[number + 1] - lines[number])) < 0) return 0;
    }
  }
}

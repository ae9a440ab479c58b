/* An instant chess engine for `peers`: answers with the moves of a prepared game. It must start and exit
   quickly, and cost nothing per move. Usage: engine SCRIPT, which has a move per line. */

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { SCRIPT_BYTES = 1 << 14, LINES = 1 << 10, INPUT_BYTES = 1 << 16 };

static char script[SCRIPT_BYTES], input[INPUT_BYTES];
static const char *moves[LINES + 1];

static int begins(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

static int say(const char *text) {
  return write(1, text, strlen(text)) > 0;
}

/* Counts the moves in `position startpos moves e2e4 e7e5`. */
static int played(const char *position) {
  const char *at = strstr(position, " moves ");
  int count = 0;
  for (at = at ? at + 6 : ""; *at; at++) count += *at == ' ';
  return count;
}

int main(int count, char **words) {
  int file = count == 2 ? open(words[1], O_RDONLY) : -1, lines = 0, next = -1;
  if (file < 0 || read(file, script, SCRIPT_BYTES - 1) < 0) return 1;
  for (char *at = script; lines < LINES && *at; at++) {
    moves[lines++] = at;
    if (!(at = strchr(at, '\n'))) return 1;
    *at = 0;
  }
  for (size_t filled = 0;;) {
    ssize_t more = read(0, input + filled, INPUT_BYTES - 1 - filled);
    if (more <= 0) return 0;
    filled += (size_t)more;
    input[filled] = 0;
    char *line = input, *end;
    for (; (end = strchr(line, '\n')); line = end + 1) {
      *end = 0;
      if (begins(line, "quit")) return 0;
      if (begins(line, "ucinewgame")) next = -1;
      /* Later positions may begin at any move. */
      if (begins(line, "position") && next < 0) next = played(line);
      if (strcmp(line, "uci") == 0) say("id name instant\nuciok\n");
      if (begins(line, "isready")) say("readyok\n");
      if (begins(line, "go")) {
        char answer[64] = "info depth 1 score cp 0\nbestmove ";
        say(strcat(strcat(answer, next < lines ? moves[next] : "0000"), "\n"));
        next += 2;
      }
    }
    filled = strlen(line);
    memmove(input, line, filled + 1);
  }
}

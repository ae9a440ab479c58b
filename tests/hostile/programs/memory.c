/* Takes this much memory in its first turn, then plays on: memory HOW MEGABYTES. HOW is
 *   private    malloc
 *   named      as `private`, with a name that is not UTF-8
 *   shared     a shared anonymous mapping
 *   memfd      a file in memory, mapped
 *   memfds     many files in memory, written and never mapped
 *   back       shared mappings that are given back, but stay mapped
 *   closed-files  files in memory that are closed, with one page mapped
 *   folders    files in every folder where it may write
 *   sparse     a shared mapping, of which it uses one page
 *   locks      this many thousand locks on files
 *   texts      this many lists of 4000 locks that are gone, open after the first byte was read
 *   attributes this many MiB of attributes of a file in memory, if it has any
 *   arguments  in a hundred processes those of a program that is none, again and again, this many 128 KiB each
 *   processes  as `private`, an eighth in each of eight processes
 *   lent       as `private`, half of it in a child that runs in its memory, as between vfork and exec
 *   file       a file in /dev/shm
 *   pipes      unread data in pipes
 *   sockets    unread data in sockets
 *   large      the same, in sockets whose buffers are to be large
 *   closed     bytes of one that no one can read any more but the one end that is left, in eight processes
 *   many       as `sockets`, in eight processes
 *   watches    this many thousand files that are watched */

#include "lib_agent.h"
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>

enum { MB = 1 << 20 };

static const char *how;
static long megabytes;

static void report(const char *name, long value)
{
    fprintf(stderr, "report %s: %ld\n", name, value);
}

/* Touches it piece by piece, like a growing program. */
static void touch(char *memory, long count)
{
    for (long i = 0; i < count; i++) {
        memset(memory + i * MB, 1, MB);
        usleep(2000);
    }
}

static void take_private(long count)
{
    for (long i = 0; i < count; i++) {
        char *piece = malloc(MB);
        if (piece == NULL) {
            report("refused", 1);
            return;
        }
        touch(piece, 1);
    }
}

static void take_mapping(int file, int flags)
{
    char *memory = mmap(NULL, megabytes * MB, PROT_READ | PROT_WRITE, flags, file, 0);
    if (memory == MAP_FAILED)
        report("refused", 1);
    else
        touch(memory, megabytes);
}

static void write_pieces(int file, long count)
{
    static char piece[MB];
    memset(piece, 1, sizeof piece);
    for (long i = 0; i < count; i++) {
        if (write(file, piece, sizeof piece) < (ssize_t)sizeof piece) {
            report("refused", 1);
            return;
        }
        usleep(2000);
    }
}

static void take_files(void)
{
    for (long taken = 0; taken < megabytes; taken += 8) {
        int file = memfd_create("held", 0);
        if (file < 0) {
            report("refused", 1);
            return;
        }
        write_pieces(file, 8);
    }
}

/* Not asleep before it has been looked at. */
static void burn(void)
{
    for (clock_t end = clock() + CLOCKS_PER_SEC / 10; clock() < end;)
        ;
}

/* Never has more than 40 MB in its own memory. */
static void take_and_give_back(int is_file)
{
    for (long taken = 0; taken < megabytes; taken += 40) {
        int file = is_file ? memfd_create("held", 0) : -1;
        if (is_file)
            write_pieces(file, 40);
        int flags = is_file ? MAP_SHARED : MAP_SHARED | MAP_ANONYMOUS;
        long length = is_file ? 4096 : 40 * MB;
        char *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, flags, file, 0);
        if (memory == MAP_FAILED)
            exit(8);
        memset(memory, 1, length);
        burn();
        if (is_file)
            close(file);
        else
            madvise(memory, length, MADV_DONTNEED);
    }
}

static void take_folders(void)
{
    const char *folders[] = {"/tmp", "/dev/shm", getenv("HOME")};
    long held = 0;
    static char piece[MB];
    memset(piece, 1, sizeof piece);
    for (int i = 0; i < 3; i++) {
        char name[512];
        snprintf(name, sizeof name, "%s/hostile-%d", folders[i] ? folders[i] : ".", (int)getpid());
        int file = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
        for (long j = 0; file >= 0 && j < megabytes && write(file, piece, MB) == MB; j++)
            held++;
        /* Neither open nor mapped. */
        close(file);
        burn();
    }
    report("held_mb", held);
}

static void take_sparse(void)
{
    char *memory = mmap(NULL, megabytes * MB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        exit(8);
    memory[0] = 1;
    burn();
}

/* Few on each file: each looks at all that are there. */
static void take_locks(void)
{
    for (long i = 0; i < 2 * megabytes; i++) {
        int file = memfd_create("locked", 0);
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
        for (int j = 0; j < 500; j++) {
            lock.l_start = 2 * j;
            if (fcntl(file, F_SETLK, &lock) != 0)
                exit(8);
        }
    }
    /* On a busy machine the look may come late. */
    for (int i = 0; i < 10; i++)
        burn();
}

/* What the kernel wrote for a reader stays while the file is open, however little was read of it. */
static void take_texts(void)
{
    char path[64], byte;
    int file = memfd_create("locked", 0);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    for (int i = 0; i < 4000; i++) {
        lock.l_start = 2 * i;
        if (fcntl(file, F_SETLK, &lock) != 0)
            exit(8);
    }
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", file);
    for (long i = 0; i < megabytes; i++) {
        int list = open(path, O_RDONLY);
        if (list < 0 || read(list, &byte, 1) != 1)
            exit(8);
    }
    lock = (struct flock){.l_type = F_UNLCK, .l_whence = SEEK_SET};
    if (fcntl(file, F_SETLK, &lock) != 0)
        exit(8);
    for (int i = 0; i < 10; i++)
        burn();
}

static void take_attributes(void)
{
    static char value[60000];
    char name[64];
    long held = 0;
    int file = memfd_create("attributes", 0);
    for (long i = 0; i < 16 * megabytes; i++) {
        snprintf(name, sizeof name, "user.%ld", i);
        held += fsetxattr(file, name, value, sizeof value, 0) == 0;
    }
    report("attributes", held);
    for (int i = 0; i < 10; i++)
        burn();
}

/* They are copied before anything is found out about the program, and are in no mapping then. */
static void take_arguments(void)
{
    static char word[131071], path[64];
    static char *words[64], *none[1];
    int file = memfd_create("no program", 0);
    if (write(file, "none", 4) != 4 || megabytes > 60)
        exit(8);
    memset(word, 'x', sizeof word - 1);
    for (long i = 0; i < megabytes; i++)
        words[i] = word;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    for (int i = 0; i < 100; i++) {
        pid_t child = fork();
        while (child == 0)
            execve(path, words, none);
    }
    sleep(20);
}

static void take_eighth(void)
{
    take_private(megabytes / 8);
}

static void in_processes(void (*take)(void))
{
    for (int i = 0; i < 8; i++) {
        pid_t child = fork();
        if (child == 0) {
            take();
            pause();
        }
    }
    sleep(20);
}

static int take_half(void *unused)
{
    take_private(megabytes / 2);
    burn();
    burn();
    _exit(0);
    return unused != NULL;
}

static void lend(void)
{
    static char stack[1 << 16];
    take_private(megabytes / 2);
    pid_t child = clone(take_half, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
    if (child < 0)
        exit(8);
    waitpid(child, NULL, 0);
}

static void take_file(void)
{
    char name[64];
    snprintf(name, sizeof name, "/dev/shm/hostile-%d", (int)getpid());
    int file = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (file < 0) {
        report("refused", 1);
        return;
    }
    /* Removed with the process, even if no level hides it. */
    unlink(name);
    write_pieces(file, megabytes);
}

static long fill(int into)
{
    static char piece[1 << 16];
    long held = 0;
    ssize_t went;
    while ((went = write(into, piece, sizeof piece)) > 0)
        held += went;
    return held;
}

/* Fills as many pipes as it may open. */
static void take_pipes(void)
{
    long held = 0;
    int ends[2];
    while (pipe2(ends, O_NONBLOCK) == 0) {
        fcntl(ends[1], F_SETPIPE_SZ, MB);
        held += fill(ends[1]);
    }
    report("held_mb", held / MB);
}

/* Fills as many sockets as it may open, but not with more than it is told. */
static void take_sockets(void)
{
    long held = 0;
    int ends[2], room = 16 * MB;
    while (held <= megabytes * MB && socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0) {
        if (strcmp(how, "large") == 0)
            setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
        held += fill(ends[0]);
        usleep(1000);
    }
    report("held_mb", held / MB);
}

/* Each byte takes as much as a message, and only the end that sent it counts it. */
static void take_closed(void)
{
    int ends[2];
    while (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0) {
        while (write(ends[0], "x", 1) == 1)
            ;
        close(ends[0]);
    }
}

/* Watches every file with every one that can watch. */
static void take_watches(void)
{
    struct epoll_event event = {0};
    int watching[100], watched[100];
    for (int i = 0; i < 100; i++) {
        watching[i] = epoll_create1(0);
        watched[i] = dup(i == 0 ? 0 : watched[0]);
    }
    for (long i = 0; i < 10000; i++)
        if (epoll_ctl(watching[i / 100], EPOLL_CTL_ADD, watched[i % 100], &event) != 0)
            exit(8);
    /* Not asleep before it has been looked at. */
    for (volatile long i = 0; i < 400 * 1000 * 1000; i++)
        ;
}

static void turn(int number)
{
    if (number > 0)
        return;
    if (strcmp(how, "private") == 0)
        take_private(megabytes);
    else if (strcmp(how, "named") == 0) {
        prctl(PR_SET_NAME, "\xff\xfe");
        take_private(megabytes);
    } else if (strcmp(how, "shared") == 0)
        take_mapping(-1, MAP_SHARED | MAP_ANONYMOUS);
    else if (strcmp(how, "memfd") == 0) {
        int file = memfd_create("mapped", 0);
        if (file < 0 || ftruncate(file, megabytes * MB) != 0)
            report("refused", 1);
        else
            take_mapping(file, MAP_SHARED);
    } else if (strcmp(how, "memfds") == 0)
        take_files();
    else if (strcmp(how, "back") == 0)
        take_and_give_back(0);
    else if (strcmp(how, "closed-files") == 0)
        take_and_give_back(1);
    else if (strcmp(how, "folders") == 0)
        take_folders();
    else if (strcmp(how, "sparse") == 0)
        take_sparse();
    else if (strcmp(how, "locks") == 0)
        take_locks();
    else if (strcmp(how, "texts") == 0)
        take_texts();
    else if (strcmp(how, "attributes") == 0)
        take_attributes();
    else if (strcmp(how, "arguments") == 0)
        take_arguments();
    else if (strcmp(how, "processes") == 0)
        in_processes(take_eighth);
    else if (strcmp(how, "lent") == 0)
        lend();
    else if (strcmp(how, "file") == 0)
        take_file();
    else if (strcmp(how, "pipes") == 0)
        take_pipes();
    else if (strcmp(how, "closed") == 0)
        in_processes(take_closed);
    else if (strcmp(how, "many") == 0)
        in_processes(take_sockets);
    else if (strcmp(how, "watches") == 0)
        in_processes(take_watches);
    else
        take_sockets();
    report("through", 1);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 9;
    how = argv[1];
    megabytes = atol(argv[2]);
    return play(turn);
}

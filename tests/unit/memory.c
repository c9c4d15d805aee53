/* Memory that ends the program where there is none, and texts and copies in it. */
#include "memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Volatile: the compiler would see that the size is too large, or leave the call out. */
static volatile size_t size;

static void ask_for_an_overflow(void)
{
    size = SIZE_MAX / 2;
    free(lb_calloc(4, size));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they cannot live with it */
#define HAS_LIMIT 1
static void ask_for_more_than_the_limit(void)
{
    const struct rlimit limit = {1 << 28, 1 << 28};
    size = 1 << 30;
    if (setrlimit(RLIMIT_AS, &limit) == 0)
        free(lb_malloc(size));
}
#endif

/* Runs ask in a child, which it must end with status 3 and these words in one line. */
static void ends(void (*ask)(void), const char *words)
{
    int fds[2], status = 0;
    char said[500];
    size_t n = 0;
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fds[1], STDERR_FILENO);
        close(fds[0]);
        close(fds[1]);
        ask();
        _exit(0);
    }
    assert_true(pid > 0);
    close(fds[1]);
    for (ssize_t some;
         n < sizeof said - 1 && (some = read(fds[0], said + n, sizeof said - 1 - n)) > 0;)
        n += (size_t)some;
    said[n] = '\0';
    close(fds[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
    assert_string_equal(said, words);
}

static void exhaustion_ends_the_program(void **state)
{
    (void)state;
    char words[120];
    snprintf(words, sizeof words, "lockbench: out of memory: cannot allocate %zu bytes\n",
             SIZE_MAX);
    ends(ask_for_an_overflow, words);
#if defined(HAS_LIMIT)
    ends(ask_for_more_than_the_limit,
         "lockbench: out of memory: cannot allocate 1073741824 bytes\n");
#endif
}

static void memory_is_zeroed_and_moved(void **state)
{
    (void)state;
    static const unsigned char zeros[100] = {0};
    unsigned char *bytes = lb_calloc(10, 10);
    assert_memory_equal(bytes, zeros, sizeof zeros);
    memset(bytes, 7, 100);
    bytes = lb_realloc(bytes, 100, 1000);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(bytes[i], 7);
    free(bytes);
    free(lb_realloc(NULL, 3, 5));
}

/* Nothing is room, too: NULL would mean that there is none. */
static void nothing_is_room(void **state)
{
    (void)state;
    void *const rooms[] = {lb_calloc(0, 8), lb_malloc(0), lb_realloc(NULL, 0, 8),
                           lb_copy(NULL, 0, 8)};
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
        assert_non_null(rooms[i]);
        free(rooms[i]);
    }
}

static void copies_are_equal_and_apart(void **state)
{
    (void)state;
    int numbers[] = {1, 2, 3};
    int *copy = lb_copy(numbers, 3, sizeof *numbers);
    assert_memory_equal(copy, numbers, sizeof numbers);
    numbers[0] = 4;
    assert_int_equal(copy[0], 1);
    free(copy);
    char *text = lb_strdup("text");
    assert_string_equal(text, "text");
    free(text);
    /* At most n bytes, of a text that need not end, and no more than it has. */
    static const char unended[] = {'a', 'b', 'c', 'd'};
    text = lb_strndup(unended, 4);
    assert_string_equal(text, "abcd");
    free(text);
    text = lb_strndup("ab\0cd", 5);
    assert_string_equal(text, "ab");
    free(text);
    text = lb_strndup("abcd", 0);
    assert_string_equal(text, "");
    free(text);
}

static void texts_have_any_length(void **state)
{
    (void)state;
    enum { LONG = 100000 };
    char *text = lb_format("%s, %d and %*d", "one", 2, LONG, 3);
    assert_int_equal(strlen(text), strlen("one, 2 and ") + LONG);
    assert_memory_equal(text, "one, 2 and  ", 12);
    assert_string_equal(text + strlen(text) - 2, " 3");
    free(text);
    text = lb_format("%s", "");
    assert_string_equal(text, "");
    free(text);
}

static void streams_grow_in_memory(void **state)
{
    (void)state;
    enum { LINES = 10000 };
    char *text = NULL;
    size_t n = 0;
    FILE *out = lb_open_memory(&text, &n);
    for (int i = 0; i < LINES; i++)
        fprintf(out, "%04d\n", i);
    lb_close_memory(out);
    assert_int_equal(n, 5 * LINES);
    assert_int_equal(strlen(text), n);
    assert_memory_equal(text, "0000\n0001\n", 10);
    assert_string_equal(text + n - 5, "9999\n");
    free(text);
    out = lb_open_memory(&text, &n);
    lb_close_memory(out);
    assert_int_equal(n, 0);
    assert_string_equal(text, "");
    free(text);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(exhaustion_ends_the_program),
        cmocka_unit_test(memory_is_zeroed_and_moved),
        cmocka_unit_test(nothing_is_room),
        cmocka_unit_test(copies_are_equal_and_apart),
        cmocka_unit_test(texts_have_any_length),
        cmocka_unit_test(streams_grow_in_memory),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

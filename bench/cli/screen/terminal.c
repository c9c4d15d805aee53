/* What the user's terminal can show: see terminal.h. */
#include "terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool lb_terminal_is(int fd)
{
    const char *term = getenv("TERM");
    return isatty(fd) == 1 && term != NULL && strcmp(term, "dumb") != 0;
}

unsigned lb_terminal_width(int fd)
{
    struct winsize size;
    if (isatty(fd) == 1 && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
        return size.ws_col;
    return 100;
}

bool lb_terminal_color(int fd)
{
    const char *no_color = getenv("NO_COLOR");
    return lb_terminal_is(fd) && (no_color == NULL || no_color[0] == '\0');
}

/* Asked of the environment's locale; the program's own stays "C", in which numbers are parsed. */
bool lb_terminal_utf8(void)
{
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (locale == (locale_t)0)
        return false;
    bool is_utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    freelocale(locale);
    return is_utf8;
}

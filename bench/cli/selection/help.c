/* The help of one command: see help.h. popt's own wastes half of 80 columns on the longest name. */
#include "help.h"

#include <string.h>

enum { WIDTH = 80, HELP_COLUMN = 28, FEW_OPTIONS = 10 };

/* The options of the short help, in its order. Each command has some of them. */
static const struct {
    const char *name, *help; /* NULL: as in the full help */
} common[] = {{"strategy", "a name, locks, queues, all, or a file ./my.sql"},
              {"database", "a URI; default: a temporary SQLite file"},
              {"scenario", "a name, or a file ./my.ini; see list scenarios"},
              {"opt", NULL},
              {"slo", "this percentile of the wait must stay below TIME"},
              {"demand", "arrivals per second, such as 300/s"},
              {"aged", "states: finished, failed, delayed, ..."},
              {"faults", "runs each scenario once under each of these"},
              {"model", NULL},
              {"claims", NULL},
              {"strict", NULL},
              {"workers", NULL},
              {"items", NULL},
              {"steps", NULL},
              {"time", NULL},
              {"replay", NULL},
              {"hold", NULL},
              {"rate", "arrivals in an open loop: 800/s, poisson:800/s"},
              {"duration", NULL},
              {"budget", "the longest time for the whole command"},
              {"jobs", NULL},
              {"fail-under", NULL},
              {"format", NULL},
              {"output", NULL},
              {"help", NULL}};

static bool is_shown(const struct poptOption *option)
{
    return (option->argInfo & POPT_ARGFLAG_DOC_HIDDEN) == 0;
}

static bool ends(const struct poptOption *option)
{
    return option->longName == NULL && option->shortName == 0;
}

/* Prints the words of text from this column on, in lines that begin at indent. */
static void print_words(const char *text, size_t column, size_t indent, FILE *out)
{
    bool is_first = true;
    while (*text != '\0') {
        size_t word = strcspn(text, " ");
        if (!is_first && column + 1 + word > WIDTH) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!is_first) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", (int)word, text);
        column += word;
        text += word;
        text += strspn(text, " ");
        is_first = false;
    }
    fputc('\n', out);
}

/* The argument has only n characters. */
static void print_option(const struct poptOption *option, size_t n, const char *help, FILE *out)
{
    char letter[] = "   ", argument[100] = "";
    if (option->shortName != 0)
        snprintf(letter, sizeof letter, "-%c%s", option->shortName,
                 option->longName != NULL ? "," : "");
    if (option->argDescrip != NULL)
        snprintf(argument, sizeof argument, "%s%.*s", option->longName != NULL ? "=" : "",
                 n < sizeof argument ? (int)n : -1, option->argDescrip);
    int column = fprintf(out, "  %s %s%s%s", letter, option->longName != NULL ? "--" : "",
                         option->longName != NULL ? option->longName : "", argument);
    if (column >= HELP_COLUMN) {
        fputc('\n', out);
        column = 0;
    }
    fprintf(out, "%*s", HELP_COLUMN - column, "");
    print_words(help, HELP_COLUMN, HELP_COLUMN, out);
}

static const struct poptOption *find(const struct poptOption *groups, const char *name)
{
    for (; groups->arg != NULL; groups++)
        for (const struct poptOption *option = groups->arg; !ends(option); option++)
            if (option->longName != NULL && strcmp(option->longName, name) == 0)
                return option;
    return NULL;
}

static void print_common(const struct lb_command *command, const struct poptOption *groups,
                         FILE *out)
{
    fputs("Common options:\n", out);
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++) {
        const struct poptOption *option = find(groups, common[i].name);
        if (option == NULL)
            continue;
        const char *argument = option->argDescrip != NULL ? option->argDescrip : "";
        print_option(option, strcspn(argument, "["),
                     common[i].help != NULL ? common[i].help : option->descrip, out);
    }
    fprintf(out, "\nAll options: lockbench %s --help all. The manual: lockbench(1).\n",
            command->name);
}

bool lb_help_print(const struct lb_command *command, const struct poptOption *groups, bool all,
                   FILE *out)
{
    size_t n = 0;
    for (const struct poptOption *group = groups; group->arg != NULL; group++)
        for (const struct poptOption *option = group->arg; !ends(option); option++)
            n += is_shown(option);
    int column = fprintf(out, "Usage: lockbench %s ", command->name);
    print_words(command->arguments, (size_t)column, sizeof "Usage: " - 1, out);
    fprintf(out, "\n%s\n\n", command->summary);
    if (!all && n > FEW_OPTIONS)
        print_common(command, groups, out);
    else
        for (const struct poptOption *group = groups; group->arg != NULL; group++) {
            fprintf(out, "%s%s\n", group == groups ? "" : "\n", group->descrip);
            for (const struct poptOption *option = group->arg; !ends(option); option++)
                if (is_shown(option))
                    print_option(option, SIZE_MAX, option->descrip, out);
        }
    return ferror(out) == 0;
}

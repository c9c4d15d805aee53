/* The selection of runs: strategies, targets and scenarios by name, and the cells that they
 * make. */
#ifndef LB_SELECT_H
#define LB_SELECT_H

#include "args.h"
#include "guest.h"
#include "outlook.h"

enum { LB_MOST_ENGINES = 8 };

/* A strategy with its statements for each engine. */
struct lb_protocol {
    const struct lb_strategy *strategy;
    struct lb_strategy own; /* of a user's file */
    const char *path;       /* as -s takes it */
    const char *label;      /* in rows and files, where the name is not alone; NULL: the name */
    bool is_named;          /* by the user, and not by a word such as all */
    struct lb_file *user_file;
    struct lb_guest *guest;                 /* a program of the user's; NULL: it is none */
    struct lb_file *files[LB_MOST_ENGINES]; /* of a built-in one, by engine; NULL: none */
};

/* Its statements for an engine; NULL: it has none. */
const struct lb_file *lb_protocol_file(const struct lb_protocol *protocol, const struct lb_db *db);

struct lb_place {
    struct lb_target target;
    uint64_t caps;          /* 0 until connected */
    struct lb_db versioned; /* the target's, from then on */
    char engine[32];
    bool is_named;                              /* "new=URI" */
    const char *after_setup, *after_setup_path; /* text of --after-setup; NULL: none */
};

struct lb_question {
    struct lb_scenario scenario;
    const char *path; /* as -S takes it */
};

struct lb_selection {
    struct lb_protocol *protocols;
    size_t n_protocols;
    struct lb_place *places;
    size_t n_places;
    struct lb_question *questions;
    size_t n_questions;
    struct lb_setting *settings; /* --opt */
    size_t n_settings;
    struct lb_outlook **outlooks; /* owned: one for each planned file and place */
    size_t n_outlooks;
    uint32_t start_ms;              /* until a program can be asked */
    bool is_choice, with_published; /* lb_select_defaults.chooses; --published */
    struct lb_words texts;          /* what the others borrow */
};

/* A command's default selection. */
struct lb_select_defaults {
    const char *strategies; /* "all"; NULL: -s is required */
    bool controls;          /* all, locks and queues mean the controls too */
    bool plans;   /* files are asked by what they show, where the user describes no scenario */
    bool breaks;  /* also the scenarios and options by which strategies are known to break */
    bool chooses; /* all, locks and queues mean the correct protocols, unless --published is given;
                     breaks then apply to strategies that the user names */
};

/* Resolves the names and opens nothing but files. Release in any case. */
int lb_select(struct lb_selection *selection, const struct lb_args *args,
              const struct lb_select_defaults *defaults, struct lb_error *err);
/* Connects once to each target that is needed, so that what cannot work is known before anything is
 * measured, and asks what it can do. */
int lb_select_connect(struct lb_selection *selection, struct lb_error *err);
/* The same, if a file has sections for some versions of an engine. */
int lb_select_versions(struct lb_selection *selection, struct lb_error *err);
/* Instead of that, if nothing will be run: no server is asked, all are assumed to have all
 * features. */
void lb_select_assume(struct lb_selection *selection);
/* Makes report->cells; those that cannot run are SKIPPED with their reason. */
int lb_select_cells(struct lb_selection *selection, const struct lb_args *args,
                    const struct lb_select_defaults *defaults, struct lb_report *report,
                    struct lb_error *err);
void lb_selection_release(struct lb_selection *selection);

/* LB_E_USAGE: there is no such built-in strategy; which may have been meant. */
int lb_select_unknown(const char *word, struct lb_error *err);
/* --opt of a command that selects nothing: each word, "form=in", is cut in place. */
enum { LB_PLAIN_SETTINGS = 32 };
int lb_select_plain(const struct lb_words *words, struct lb_setting *settings,
                    struct lb_error *err);

#endif

/* The parts of lockbench show. */
#ifndef LB_SHOW_PARTS_H
#define LB_SHOW_PARTS_H

#include "strategy.h"

#include <stdio.h>

/* --- show_client.c: statements in the words of one client --- */

enum lb_client {
    LB_CLIENT_FILE, /* a strategy file: :name */
    LB_CLIENT_PSQL,
    LB_CLIENT_MYSQL,
    LB_CLIENT_SQLITE,
    LB_CLIENT_JDBC,
    LB_CLIENT_LIBPQ,
};

/* Finds the client. engine: of the statements; NULL as long as none was chosen, and then the
 * client's own is put there. 0 or LB_E_USAGE. */
int lb_client_find(const char *name, const struct lb_db **engine, enum lb_client *ret,
                   struct lb_error *err);

/* What the parameters mean, as comments; behind them, of a client with variables, a value for each
 * as an example. */
void lb_client_legend(const struct lb_program *program, enum lb_client client);

/* Does any statement have this parameter? */
bool lb_client_uses(const struct lb_program *program, size_t slot);

/* Prints a warning, above a recover that takes items or holds of live workers. */
void lb_client_warn_recover(const struct lb_program *program, FILE *out);

/* All sections, one after the other, with the client's placeholders. */
void lb_client_sections(const struct lb_program *program, enum lb_client client);

/* --- show_file.c: statements as a file of lockbench-strategy(5), with options filled in --- */

/* Its header; file: where the program comes from. */
void lb_show_header(const struct lb_strategy *strategy, const struct lb_file *file,
                    const struct lb_program *program, FILE *out);
/* The sections, with the engine's mark: the statements are for that one. */
void lb_show_sections(const struct lb_program *program, FILE *out);

#endif

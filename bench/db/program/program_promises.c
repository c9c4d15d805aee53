/* Guarantees that need a number, or a word, of the header: a file that claims one without it is
 * refused.
 */
#include "program_building.h"

#include "attribute.h"

/* A guarantee that needs a fact of the header, and an attribute of the items that are put. */
static int check_fact(struct lb_building *b, enum lb_guarantee guarantee, bool is_stated,
                      enum lb_attribute attribute, const char *unstated, const char *unused)
{
    const struct lb_section *put = &b->program->sections[LB_S_PUT];
    if (b->file->is_built_in || (b->file->claims & LB_G_BIT(guarantee)) == 0)
        return 0;
    if (!is_stated)
        return lb_file_fail(b->file, put->line, b->err, "claims %s, and does not state %s",
                            lb_guarantee_name(guarantee), unstated);
    if (put->present && (b->program->attributes >> attribute & 1) == 0)
        return lb_file_fail(b->file, put->line, b->err,
                            "claims %s, and section put does not use %s",
                            lb_guarantee_name(guarantee), unused);
    return 0;
}

static int check_rate(struct lb_building *b)
{
    const struct lb_program *program = b->program;
    const struct lb_stated *rate = &b->file->rate;
    const bool is_claimed = (b->file->claims & LB_G_BIT(LB_G_RATE)) != 0;
    if (b->file->is_built_in || (rate->text == NULL && !is_claimed))
        return 0;
    if (rate->text == NULL)
        return lb_file_fail(b->file, program->sections[LB_S_CLAIM].line, b->err,
                            "claims rate, and does not state how many items may be begun in which "
                            "time: write \"-- rate: N / T\" into the header, such as 5 / 1s");
    if (b->file->shape != LB_QUEUE)
        return lb_file_fail(b->file, rate->line, b->err,
                            "rate: is for a queue, and this is a lock");
    return program->rate > 0 && program->rate_ms > 0
               ? 0
               : lb_file_fail(b->file, rate->line, b->err,
                              "rate: write \"N / T\", such as 5 / 1s (or ms, min); each may be "
                              "an option of this file, T one with a name that ends in its unit, "
                              "such as window_ms");
}

static int check_share(struct lb_building *b)
{
    const struct lb_section *put = &b->program->sections[LB_S_PUT];
    const bool is_claimed = (b->file->claims & LB_G_BIT(LB_G_SHARE)) != 0;
    if (b->file->is_built_in || (b->file->share.text == NULL && !is_claimed))
        return 0;
    if (b->program->share_milli == 0)
        return lb_file_fail(b->file, b->file->share.text != NULL ? b->file->share.line : put->line,
                            b->err,
                            "share: write \"-- share: P\" into the header, or an option of this "
                            "file: the part of its fair share that each tenant gets, above 0 and "
                            "at most 1, such as 0.5");
    if (is_claimed && put->present && (b->program->attributes >> LB_A_TENANT & 1) == 0)
        return lb_file_fail(b->file, put->line, b->err,
                            "claims share, and section put does not use :tenant");
    return 0;
}

static int check_attempts(struct lb_building *b)
{
    if (b->file->is_built_in || (b->file->claims & LB_G_BIT(LB_G_ATTEMPTS)) == 0 ||
        b->program->attempts > 0)
        return 0;
    return lb_file_fail(b->file, b->program->sections[LB_S_CLAIM].line, b->err,
                        "claims attempts, and does not state how many an item has: write "
                        "\"-- attempts: N\" into the header");
}

int lb_building_check_promises(struct lb_building *b)
{
    int r = check_attempts(b);
    if (r == 0)
        r = check_fact(b, LB_G_KEY_LIMIT, b->program->key_limit != 0, LB_A_KEY,
                       "how many items of a key may be in hand: write \"-- key-limit: K\" into the "
                       "header",
                       ":key, the key of the item that it puts");
    if (r == 0)
        r = check_rate(b);
    if (r == 0)
        r = check_share(b);
    if (r == 0)
        r = check_fact(b, LB_G_PRIORITY, b->program->priority != 0, LB_A_PRIORITY,
                       "which items are urgent: write \"-- priority: highest-first\" (or "
                       "lowest-first) into the header",
                       ":priority");
    return r == 0 ? check_fact(b, LB_G_UNIQUE, b->program->unique != 0, LB_A_UNIQUE,
                               "how long an item has its unique key for itself: write \"-- unique: "
                               "until-done\" (or until-claimed) into the header",
                               ":unique_key")
                  : r;
}

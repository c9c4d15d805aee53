/* One question to one text: see mutation.h. */
#ifndef LB_MUTATION_ASK_H
#define LB_MUTATION_ASK_H

#include "aged_costs.h"
#include "mutation.h"

/* A text that is asked about: the original, a mutant, or a pair of them. */
struct lb_subject {
    struct lb_file *file;
    const char *path;         /* as commands call it */
    char number[32];          /* "7", "3+5"; "": the original */
    struct lb_judged *judged; /* gets what is violated */
};

bool lb_mutation_is_stopped(const struct lb_mutation *mutation);
/* Of the budget; 0: it is over. */
uint64_t lb_mutation_left_ns(const struct lb_mutation *mutation);

/* Explores. Returns 1 if the text is shown to violate something, else 0, or an error.
 * *ret_compared: its results are all known, or some that the original's are not: see
 * judged->differs. */
int lb_ask_exploration(const struct lb_mutation *mutation, struct lb_mutation_question *question,
                       const struct lb_subject *subject, uint64_t time_ns, bool *ret_compared,
                       struct lb_error *err);
/* Explores both texts anew, and takes answers that only one of them gives; also with the rows at
 * the end. 1: there are some. */
int lb_ask_answers(const struct lb_mutation *mutation, struct lb_mutation_question *question,
                   const struct lb_subject *subject, bool with_rows, uint64_t time_ns,
                   struct lb_error *err);
/* Runs, likewise. */
int lb_ask_run(const struct lb_mutation *mutation, const struct lb_mutation_question *question,
               const struct lb_subject *subject, struct lb_error *err);
/* Asks the original. The question keeps the result; is_accused is set by a violation. */
int lb_explore_original(struct lb_mutation *mutation, struct lb_mutation_question *question,
                        uint64_t time_ns, struct lb_error *err);
int lb_run_original(struct lb_mutation *mutation, struct lb_mutation_question *question,
                    struct lb_error *err);

/* What the operations of the text cost; ret->n == 0: they cannot be counted. */
void lb_ask_costs(const struct lb_mutation *mutation, const struct lb_file *file,
                  struct lb_costs *ret);

/* mutation_questions.c: those of the plan, and some that a mutant alone gives reason for. */
void lb_mutation_questions(struct lb_mutation *mutation);
/* Makes a case smaller: with one item, then with one round of several workers; or with whole
 * transactions. false: it is so already. The workers and their renewals stay: they are the purpose
 * of the exploration, as are the rounds of one worker. */
bool lb_mutation_make_smaller(struct lb_explored_ask *ask, bool whole);
/* Adds smaller cases of question i, which could not be complete. */
void lb_mutation_add_smaller(struct lb_mutation *mutation, size_t i);

/* mutation_originals.c: explores the original, and brings the questions in the order in which
 * mutants are asked: complete, likely and short ones come first. */
int lb_mutation_explore_originals(struct lb_mutation *mutation, struct lb_error *err);

/* mutation_jobs.c. */
/* Is mutant i one of this process? */
bool lb_mutation_is_mine(const struct lb_mutation *mutation, size_t i);
/* Starts n_jobs processes, each of which does the work for its part of the mutants, and waits. */
int lb_mutation_in_parts(struct lb_mutation *mutation,
                         int (*work)(struct lb_mutation *mutation, struct lb_error *err),
                         struct lb_error *err);

/* mutation_seen.c. */
/* True if the exploration has to be asked: it runs the mutant's section. One of dead renewers is
 * for renew alone. */
bool lb_mutant_is_met(const struct lb_mutation_question *question, const struct lb_mutant *mutant);
/* Was the exploration complete, or a smaller case of it that has to be asked, too? */
bool lb_mutant_is_covered(const struct lb_mutation *mutation,
                          const struct lb_mutation_question *question,
                          const struct lb_mutant *mutant);
/* Do two sessions or more play? */
bool lb_mutation_is_contest(const struct lb_mutation_question *question);
/* True if this run is what shows the mutant, if anything does. */
bool lb_mutant_is_likely(const struct lb_mutation_question *question,
                         const struct lb_mutant *mutant);
/* The reason of a clause that may still be redundant with another one. */
extern const char lb_mutant_untried[];
/* Why no exploration can show that the clause is not needed; NULL: they can. */
const char *lb_mutant_unseen(const struct lb_mutation *mutation, const struct lb_mutant *mutant);
/* A comparison with the time: the two forms differ where both sides are equal. */
bool lb_mutant_is_of_a_moment(const struct lb_mutant *mutant);

#endif

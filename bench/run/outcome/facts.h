/* The facts of a file, stated or open, as the judge takes them. */
#ifndef LB_FACTS_H
#define LB_FACTS_H

#include "check.h"
#include "program.h"

/* Fills what the file states into the model, and a doubt for each fact that its text hints at and
 * that it does not state. program NULL: it states nothing. */
void lb_facts_take(const struct lb_program *program, struct lb_model *model);

/* In a run, where others' transactions under way on the server may hide items: asks for -- due:. */
void lb_facts_ask_strangers(const struct lb_program *program, struct lb_model *model);
/* Items that were not claimed when the queue was drained are not lost, for this reason. */
void lb_facts_doubt_due(struct lb_model *model, const char *reason);

/* With two versions, the witnesses of violations say which workers ran the one before. file NULL:
 * there are no statements. */
void lb_facts_name_versions(const struct lb_file *file, struct lb_judgement *judgement);

#endif

/* The operations of lb_ordinary_flow, for flows that differ from it in one or two of them. */
#ifndef LB_ORDINARY_H
#define LB_ORDINARY_H

#include "strategy.h"

int lb_ordinary_setup(struct lb_strategy_plan *plan, struct lb_session *session,
                      struct lb_error *err);
/* Runs section migrate, where there is one: the tables of the version before become the plan's. 0;
 * an error; or the server's refusal (enum lb_answer), with err filled as well. */
int lb_ordinary_migrate(const struct lb_strategy_plan *plan, struct lb_session *session,
                        struct lb_error *err);
/* The parameters of a section that a worker runs on its class. */
void lb_ordinary_fill_own_class(struct lb_bag *bag, const struct lb_actor *actor);
/* The parameters of a section that an operator runs on the whole class, in no worker's name. */
void lb_ordinary_fill_class(struct lb_bag *bag, const struct lb_strategy_plan *plan);
/* The same for a resource of a lock, and an operator. */
void lb_ordinary_fill_resource(struct lb_bag *bag, const struct lb_strategy_plan *plan,
                               uint32_t resource);
int lb_ordinary_open(struct lb_actor *actor, struct lb_error *err);
int lb_ordinary_put(struct lb_actor *actor, int64_t first, uint32_t n, const char *payload,
                    struct lb_error *err);
int lb_ordinary_claim(struct lb_actor *actor, uint32_t n, struct lb_item *items, uint32_t max,
                      uint32_t *ret_n, int64_t *ret_marked, struct lb_error *err);
int lb_ordinary_item(struct lb_actor *actor, enum lb_section_name section, struct lb_item *item,
                     struct lb_error *err);
int lb_ordinary_class(struct lb_actor *actor, enum lb_section_name section, struct lb_error *err);
/* A claim in two halves: its parameters, and the result of its section. */
struct lb_claiming {
    struct lb_bag bag;
    struct lb_item *items;
    uint32_t max, n;
    bool lacks_id;
};
void lb_ordinary_begin_claim(struct lb_claiming *claiming, const struct lb_actor *actor, uint32_t n,
                             struct lb_item *items, uint32_t max);
void lb_ordinary_catch_item(void *claiming, const struct lb_bag *bag); /* each row */
int lb_ordinary_end_claim(struct lb_actor *actor, const struct lb_claiming *claiming, int answer,
                          const struct lb_section_result *result, uint32_t *ret_n,
                          int64_t *ret_marked, struct lb_error *err);
/* The parameters of a section that ends one item. */
void lb_ordinary_fill_item(const struct lb_actor *actor, struct lb_item *item);
/* An absent row, as the operations that end or prolong something see it. */
int lb_ordinary_refused(int answer, const struct lb_section_result *result);
/* pipeline.c */
void lb_ordinary_pipeline(struct lb_actor *actor, struct lb_pipeline *pipeline);
/* batch.c; the same in two halves. */
void lb_ordinary_fill_batch(struct lb_bag *bag, const struct lb_actor *actor,
                            struct lb_batch *batch);
void lb_ordinary_catch_id(void *batch, const struct lb_bag *bag); /* each row */
int lb_ordinary_end_batch(struct lb_batch *batch, int answer,
                          const struct lb_section_result *result);
int lb_ordinary_batch(struct lb_actor *actor, enum lb_section_name name, struct lb_batch *batch,
                      struct lb_error *err);
void lb_ordinary_close(struct lb_actor *actor);
int lb_ordinary_teardown(struct lb_strategy_plan *plan, struct lb_session *session,
                         struct lb_error *err);

#endif

/* The operations of lb_ordinary_flow, for flows that differ from it in one or two of them. */
#ifndef LB_ORDINARY_H
#define LB_ORDINARY_H

#include "strategy.h"

int lb_ordinary_setup(struct lb_strategy_plan *plan, struct lb_session *session,
                      struct lb_error *err);
/* The parameters of a section that a worker runs on its class. */
void lb_ordinary_fill_own_class(struct lb_bag *bag, const struct lb_actor *actor);
/* The parameters of a section that an operator runs on the whole class, in no worker's name. */
void lb_ordinary_fill_class(struct lb_bag *bag, const struct lb_strategy_plan *plan);
/* The same for a resource of a lock, and an operator. */
void lb_ordinary_fill_resource(struct lb_bag *bag, const struct lb_strategy_plan *plan,
                               uint32_t resource);
int lb_ordinary_open(struct lb_actor *actor, struct lb_error *err);
int lb_ordinary_enqueue(struct lb_actor *actor, const struct lb_request *request,
                        struct lb_grant *grant, struct lb_error *err);
int lb_ordinary_acquire(struct lb_actor *actor, const struct lb_request *request,
                        struct lb_grant *grant, struct lb_error *err);
int lb_ordinary_renew(struct lb_actor *actor, const struct lb_request *request,
                      struct lb_grant *grant, struct lb_error *err);
int lb_ordinary_release(struct lb_actor *actor, const struct lb_request *request,
                        struct lb_grant *grant, struct lb_error *err);
int lb_ordinary_cancel(struct lb_actor *actor, const struct lb_request *request,
                       struct lb_grant *grant, struct lb_error *err);
int lb_ordinary_put(struct lb_actor *actor, int64_t first, uint32_t n, const char *payload,
                    struct lb_error *err);
int lb_ordinary_claim(struct lb_actor *actor, uint32_t n, struct lb_item *items, uint32_t max,
                      uint32_t *ret_n, int64_t *ret_marked, struct lb_error *err);
int lb_ordinary_complete(struct lb_actor *actor, struct lb_item *item, struct lb_error *err);
int lb_ordinary_error(struct lb_actor *actor, struct lb_item *item, struct lb_error *err);
int lb_ordinary_free_item(struct lb_actor *actor, struct lb_item *item, struct lb_error *err);
/* batch.c */
int lb_ordinary_batch(struct lb_actor *actor, enum lb_section_name name, struct lb_batch *batch,
                      struct lb_error *err);
int lb_ordinary_clear_error(struct lb_actor *actor, struct lb_item *item, struct lb_error *err);
int lb_ordinary_renew_item(struct lb_actor *actor, struct lb_item *item, struct lb_error *err);
int lb_ordinary_clear_all_errors(struct lb_actor *actor, struct lb_error *err);
int lb_ordinary_reset_all(struct lb_actor *actor, struct lb_error *err);
int lb_ordinary_recover(struct lb_actor *actor, struct lb_error *err);
int lb_ordinary_retry(struct lb_actor *actor, struct lb_item *item, struct lb_error *err);
int lb_ordinary_sweep(struct lb_actor *actor, struct lb_error *err);
int lb_ordinary_enroll(struct lb_actor *actor, struct lb_error *err);
int lb_ordinary_beat(struct lb_actor *actor, struct lb_error *err);
int lb_ordinary_sign_off(struct lb_actor *actor, struct lb_error *err);
void lb_ordinary_close(struct lb_actor *actor);
int lb_ordinary_teardown(struct lb_strategy_plan *plan, struct lb_session *session,
                         struct lb_error *err);

#endif

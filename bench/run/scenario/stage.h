/* The phases of a scenario, as its file has them ("stage" here: struct lb_team has phases too).
 *
 *     [phase snapshot]
 *     share = 30%
 *     rate = 150%
 *     snapshot = yes
 */
#ifndef LB_STAGE_H
#define LB_STAGE_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LB_STAGES = 16, LB_STAGE_NAME = 24 };

struct lb_stage {
    char name[LB_STAGE_NAME];
    double share;  /* of the duration */
    char rate[24]; /* "150%" of the scenario's, or "300/s"; "": the scenario's */
    bool snapshot; /* a transaction stays open that has read */
    bool readers;  /* the scenario's readers read */
    bool faults;   /* the scenario's fault happens */
};

struct lb_scenario;

/* A section begins: "phase NAME". 0 or LB_E_FILE. */
int lb_stage_add(struct lb_scenario *scenario, const char *section, struct lb_error *err);
/* A key of the last section. */
int lb_stage_set(struct lb_scenario *scenario, const char *key, const char *value,
                 struct lb_error *err);
/* Contradictions between phases and keys. 0 or LB_E_USAGE. */
int lb_stages_validate(const struct lb_scenario *scenario, struct lb_error *err);

/* The phase at a time of the measured part, before its end; the last one afterwards. */
uint32_t lb_stage_at(const struct lb_scenario *scenario, uint64_t at_ns);
/* When a phase begins; for n_stages: when the last one ends. */
uint64_t lb_stage_start_ns(const struct lb_scenario *scenario, uint32_t stage);
/* The first phase with a snapshot; NULL: none has one. */
const char *lb_stages_snapshot(const struct lb_scenario *scenario);
/* The phases in words: "clean 20%, snapshot 30% with a snapshot"; "" without phases. */
char *lb_stages_text(const struct lb_scenario *scenario, char *buf, size_t size);

struct lb_schedule;
/* The arrivals of the run, those of its phases included. LB_E_USAGE. */
int lb_scenario_schedule(const struct lb_scenario *scenario, uint64_t seed,
                         struct lb_schedule *ret_schedule, struct lb_error *err);

#endif

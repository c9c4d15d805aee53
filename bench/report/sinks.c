/* The sinks by name. */
#include "report.h"

const struct lb_sink *const lb_sinks[] = {&lb_sink_text,     &lb_sink_json, &lb_sink_jsonl,
                                          &lb_sink_csv,      &lb_sink_tap,  &lb_sink_junit,
                                          &lb_sink_markdown, NULL};

const struct lb_sink *const lb_plan_sinks[] = {&lb_sink_plan, &lb_sink_json, &lb_sink_jsonl,
                                               &lb_sink_csv, NULL};

const struct lb_sink *const lb_matrix_sinks[] = {&lb_matrix_markdown, &lb_matrix_json, NULL};

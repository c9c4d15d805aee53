/* The ranks of a run as JSON: see json.h. */
#include "json.h"

#include "json_object.h"

static json_t *row_json(const struct lb_rank_row *row)
{
    struct lb_object object = lb_object_new();
    lb_put_text(&object, "host", row->host);
    lb_put_count(&object, "workers", row->n_workers);
    lb_put_count(&object, "successes", row->n_successes);
    lb_put_count(&object, "cpu_ns", row->cpu_ns);
    lb_put(&object, "clock_offset_ns", json_integer((json_int_t)row->offset_ns));
    lb_put_count(&object, "clock_uncertainty_ns", row->uncertainty_ns);
    lb_put_count(&object, "clock_exchanges", row->n_exchanges);
    lb_put_count(&object, "late_ns", row->late_ns);
    lb_put_flag(&object, "lost", row->is_lost);
    return lb_object_end(&object);
}

static json_t *near_json(const struct lb_ranks *ranks)
{
    struct lb_object object = lb_object_new();
    for (int g = 0; g < LB_GUARANTEES; g++) {
        const struct lb_near_miss *near = &ranks->near[g];
        if (near->n_violations == 0)
            continue;
        struct lb_object one = lb_object_new();
        lb_put_count(&one, "violations", near->n_violations);
        lb_put_count(&one, "settles_ns", near->settles_ns);
        lb_put(&object, lb_guarantee_name((enum lb_guarantee)g), lb_object_end(&one));
    }
    return lb_object_end(&object);
}

json_t *lb_ranks_json(const struct lb_ranks *ranks)
{
    if (ranks->n == 0)
        return json_null();
    struct lb_object object = lb_object_new(), rows = lb_list_new();
    for (uint32_t r = 0; r < ranks->n; r++)
        lb_add(&rows, row_json(&ranks->rows[r]));
    lb_put(&object, "rows", lb_object_end(&rows));
    lb_put_count(&object, "uncertainty_ns", ranks->uncertainty_ns);
    lb_put(&object, "possible", near_json(ranks));
    return lb_object_end(&object);
}

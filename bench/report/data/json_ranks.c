/* The ranks of a run as JSON: see json_ranks.h. */
#include "json_ranks.h"

#include "json_object.h"

static json_t *row_json(const struct lb_rank_row *row)
{
    struct object object = object_new();
    put_text(&object, "host", row->host);
    put_count(&object, "workers", row->n_workers);
    put_count(&object, "successes", row->n_successes);
    put_count(&object, "cpu_ns", row->cpu_ns);
    put(&object, "clock_offset_ns", json_integer((json_int_t)row->offset_ns));
    put_count(&object, "clock_uncertainty_ns", row->uncertainty_ns);
    put_count(&object, "clock_exchanges", row->n_exchanges);
    put_count(&object, "late_ns", row->late_ns);
    put(&object, "lost", json_boolean(row->is_lost));
    return object_end(&object);
}

static json_t *near_json(const struct lb_ranks *ranks)
{
    struct object object = object_new();
    for (int g = 0; g < LB_GUARANTEES; g++) {
        const struct lb_near_miss *near = &ranks->near[g];
        if (near->n_violations == 0)
            continue;
        struct object one = object_new();
        put_count(&one, "violations", near->n_violations);
        put_count(&one, "settles_ns", near->settles_ns);
        put(&object, lb_guarantee_name((enum lb_guarantee)g), object_end(&one));
    }
    return object_end(&object);
}

json_t *lb_ranks_json(const struct lb_ranks *ranks)
{
    struct object object = object_new();
    json_t *rows = json_array();
    if (ranks->n == 0) {
        json_decref(rows);
        json_decref(object.json);
        return json_null();
    }
    for (uint32_t r = 0; r < ranks->n && rows != NULL; r++)
        if (json_array_append_new(rows, row_json(&ranks->rows[r])) != 0)
            object.failed = true;
    put(&object, "rows", rows);
    put_count(&object, "uncertainty_ns", ranks->uncertainty_ns);
    put(&object, "possible", near_json(ranks));
    return object_end(&object);
}

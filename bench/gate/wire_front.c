/* What a client sends: requests, and the statements that they execute. See wire.h. */
#include "memory.h"
#include "wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what has a name --- */

static struct lb_wire_named *find(struct lb_wire_named *at, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (at[i].name != NULL && strcmp(at[i].name, name) == 0)
            return &at[i];
    return NULL;
}

static void forget(struct lb_wire_named *named)
{
    free(named->name);
    free(named->text);
    free(named->params);
    *named = (struct lb_wire_named){.name = NULL};
}

/* Returns an empty place for the name: its own, a free one, or else the oldest. */
static struct lb_wire_named *place(struct lb_wire_named *at, uint32_t *n, uint32_t most,
                                   uint32_t *next, const char *name)
{
    struct lb_wire_named *named = find(at, *n, name);
    for (uint32_t i = 0; i < *n && named == NULL; i++)
        if (at[i].name == NULL)
            named = &at[i];
    if (named == NULL && *n < most) {
        named = &at[(*n)++];
    } else if (named == NULL) {
        named = &at[*next];
        *next = (*next + 1) % most;
    }
    forget(named);
    named->name = lb_strdup(name);
    return named;
}

/* --- messages --- */

static void parse(struct lb_wire_front *front, const struct lb_wire_cutter *message)
{
    struct lb_wire_body body = lb_wire_body_of(message);
    const char *name = lb_wire_string(&body), *text = lb_wire_string(&body);
    struct lb_wire_named *prepared =
        place(front->prepared, &front->n_prepared, LB_WIRE_NAMES, &front->next_prepared, name);
    prepared->is_cut = body.has_failed || message->is_cut;
    prepared->text = lb_strdup(text);
    uint32_t n = lb_wire_number(&body, 2);
    while (prepared->n_types < n && prepared->n_types < LB_WIRE_TYPES && !body.has_failed)
        prepared->types[prepared->n_types++] = lb_wire_number(&body, 4);
}

/* One literal a line. false: not all of them can be told. */
static bool read_params(struct lb_wire_body *body, const struct lb_wire_named *prepared, char *text,
                        size_t size)
{
    enum { MOST_FORMATS = 64 };
    bool formats[MOST_FORMATS] = {false};
    uint32_t n_formats = lb_wire_number(body, 2);
    for (uint32_t i = 0; i < n_formats && !body->has_failed; i++) {
        bool is_binary = lb_wire_number(body, 2) == 1;
        if (i < MOST_FORMATS)
            formats[i] = is_binary;
    }
    uint32_t n = lb_wire_number(body, 2);
    size_t used = 0;
    for (uint32_t i = 0; i < n && !body->has_failed && used + 8 < size; i++) {
        uint32_t length = lb_wire_number(body, 4);
        bool is_null = length == UINT32_MAX;
        const char *bytes = is_null || body->has_failed ? "" : lb_wire_bytes(body, length);
        bool is_binary = n_formats == 1                      ? formats[0]
                         : i < n_formats && i < MOST_FORMATS ? formats[i]
                                                             : false;
        uint32_t type = prepared != NULL && i < prepared->n_types ? prepared->types[i] : 0;
        if (bytes == NULL || body->has_failed)
            return false;
        if (is_null)
            snprintf(text + used, size - used - 1, "NULL");
        else
            lb_wire_literal(text + used, size - used - 1, bytes, length, is_binary, type);
        used += strlen(text + used);
        text[used++] = '\n';
        text[used] = '\0';
    }
    return !body->has_failed && used + 8 < size;
}

static void bind(struct lb_wire_front *front, const struct lb_wire_cutter *message)
{
    char params[LB_WIRE_PARAMS] = "";
    struct lb_wire_body body = lb_wire_body_of(message);
    const char *name = lb_wire_string(&body), *statement = lb_wire_string(&body);
    const struct lb_wire_named *prepared = find(front->prepared, front->n_prepared, statement);
    bool is_whole = !body.has_failed && read_params(&body, prepared, params, sizeof params);
    struct lb_wire_named *portal =
        place(front->portals, &front->n_portals, LB_WIRE_PORTALS, &front->next_portal, name);
    portal->text = lb_strdup(prepared != NULL ? prepared->text
                                              : "(a statement that was prepared in another way)");
    portal->params = lb_strdup(params);
    portal->is_cut = !is_whole || message->is_cut || prepared == NULL || prepared->is_cut;
}

static void add_text(struct lb_wire_request *request, const char *text, bool is_cut)
{
    size_t used = strlen(request->text), n = strlen(text);
    const char *between = used > 0 ? "; " : "";
    request->n_statements++;
    request->is_cut =
        request->is_cut || is_cut || used + strlen(between) + n >= sizeof request->text;
    /* A statement that is executed repeatedly is listed once. */
    if (request->n_statements > 1 && used >= n && strcmp(request->text + used - n, text) == 0)
        return;
    snprintf(request->text + used, sizeof request->text - used, "%s%s", between, text);
}

static void execute(struct lb_wire_front *front, const struct lb_wire_cutter *message)
{
    struct lb_wire_body body = lb_wire_body_of(message);
    const struct lb_wire_named *portal =
        find(front->portals, front->n_portals, lb_wire_string(&body));
    struct lb_wire_request *request = &front->request;
    add_text(request, portal != NULL ? portal->text : "(a portal that was opened in another way)",
             portal == NULL || portal->is_cut);
    snprintf(request->params, sizeof request->params, "%s", portal != NULL ? portal->params : "");
}

static void close_name(struct lb_wire_front *front, const struct lb_wire_cutter *message)
{
    struct lb_wire_body body = lb_wire_body_of(message);
    uint32_t kind = lb_wire_number(&body, 1);
    const char *name = lb_wire_string(&body);
    struct lb_wire_named *named = kind == 'S'   ? find(front->prepared, front->n_prepared, name)
                                  : kind == 'P' ? find(front->portals, front->n_portals, name)
                                                : NULL;
    if (named != NULL)
        forget(named);
}

static enum lb_wire_part end(struct lb_wire_front *front, bool awaits_ready)
{
    front->request.awaits_ready = awaits_ready;
    return LB_WIRE_ENDS;
}

enum lb_wire_part lb_wire_front_take(struct lb_wire_front *front,
                                     const struct lb_wire_cutter *message, bool is_copying)
{
    struct lb_wire_request *request = &front->request;
    switch (message->type) {
    case 'Q':
        add_text(request, message->kept, message->is_cut || message->left > 0);
        return end(front, true);
    case 'F':
        add_text(request, "(a call of a function by its number)", true);
        return end(front, true);
    case 'P':
        parse(front, message);
        return LB_WIRE_GOES_ON;
    case 'B':
        bind(front, message);
        return LB_WIRE_GOES_ON;
    case 'E':
        execute(front, message);
        return LB_WIRE_GOES_ON;
    case 'C':
        close_name(front, message);
        return LB_WIRE_GOES_ON;
    case 'D':
        return LB_WIRE_GOES_ON;
    case 'S': /* a server that reads a COPY's data ignores both */
        return is_copying ? LB_WIRE_PASSES : end(front, true);
    case 'H':
        return is_copying ? LB_WIRE_PASSES : end(front, false);
    default: /* p: a password; d, c, f: data of a COPY; X */
        return LB_WIRE_PASSES;
    }
}

void lb_wire_front_next(struct lb_wire_front *front)
{
    struct lb_wire_request *request = &front->request;
    request->n_statements = 0;
    request->text[0] = request->params[0] = '\0';
    request->is_cut = request->awaits_ready = false;
}

void lb_wire_front_free(struct lb_wire_front *front)
{
    for (uint32_t i = 0; i < front->n_prepared; i++)
        forget(&front->prepared[i]);
    for (uint32_t i = 0; i < front->n_portals; i++)
        forget(&front->portals[i]);
}

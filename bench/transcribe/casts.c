/* Parameters whose types the server inferred: see casts.h.
 *
 * The program sent text without a type, and the server inferred the type. In a file a number is a
 * number: a cast states the type, and a literal that is not a number is written as text.
 */
#include "casts.h"

#include "nearest.h"

#include <string.h>

void lb_cast_write(const struct lb_part *part, struct lb_piece piece, const char *text, FILE *out)
{
    static const char *const values[] = {":ttl_ms", "(:ttl_ms / 1000)", ":id", NULL};
    static const char *const large[] = {"bigint", "numeric", "real", "double precision", NULL};
    static const char *const small[] = {"integer", "smallint", NULL};
    char type[100];
    bool is_value = lb_is_one_of(text, values);
    bool is_literal = text[0] != '\0' && text[strspn(text, "-.0123456789")] == '\0';
    bool is_typed = (is_value || is_literal) && part->statement->types != NULL &&
                    lb_piece_param(part, part->statement->types, piece, type, sizeof type);
    if (!is_typed || lb_is_one_of(type, large) || (is_literal && lb_is_one_of(type, small)))
        fputs(text, out);
    else if (is_literal)
        fprintf(out, "'%s'", text);
    else if (lb_is_one_of(type, small))
        fprintf(out, "(%s)::%s", text, type);
    else
        fprintf(out, "((%s)::text)::%s", text, type);
}

bool lb_cast_wants_number(const struct lb_part *part, struct lb_piece piece)
{
    static const char *const numbers[] = {"bigint", "integer", "smallint", "oid", "numeric", NULL};
    char type[100];
    if (piece.kind != LB_PIECE_POSITION)
        return memmem(part->text, part->n, "advisory", 8) != NULL;
    return part->statement->types != NULL &&
           lb_piece_param(part, part->statement->types, piece, type, sizeof type) &&
           lb_is_one_of(type, numbers);
}

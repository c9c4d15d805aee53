/* The EDN reader against anything. */
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text(data, size, LB_HISTORY_EDN);
}

/* Fibers: see fiber.h.
 *
 * makecontext gives a fiber its stack. Later switches use _setjmp and _longjmp, which save only the
 * registers; swapcontext saves the signal mask as well, by a system call that costs more than all
 * the rest. The sanitizers must be informed of each switch and do not know this use of longjmp:
 * builds with them use swapcontext.
 *
 * A stack is mapped with a page below it that cannot be touched: an overflow ends the program there
 * and corrupts nothing. Pages that are never touched take no memory.
 */
#undef _FORTIFY_SOURCE /* it takes a jump to another stack for an error */
#include "fiber.h"

#include "memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define WITH_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#elif __has_feature(thread_sanitizer)
#define WITH_TSAN 1
#endif
#endif

#if defined(WITH_ASAN)
#include <sanitizer/asan_interface.h>
#elif defined(WITH_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

/* What libpq and the resolver need at most, with room; the sanitizers' frames are larger. */
#if defined(WITH_ASAN) || defined(WITH_TSAN)
enum { STACK_BYTES = 2048 * 1024 };
#else
enum { STACK_BYTES = 512 * 1024 };
#endif

/* Where one side of a switch stands while the other runs. */
struct place {
    ucontext_t context;
    jmp_buf registers;
    void *sanitizer;   /* its fake stack (address) or its fiber (thread) */
    const void *stack; /* address sanitizer: of the one that resumed */
    size_t stack_bytes;
};

struct lb_fiber {
    void (*main)(void *arg);
    void *arg;
    struct lb_fiber *resumer; /* the fiber that resumed it; NULL: the thread itself */
    char *memory;             /* guard page and stack */
    size_t memory_bytes, guard_bytes;
    bool has_begun, has_ended;
    struct place own, back; /* the fiber's, and of whoever resumed it */
};

static _Thread_local struct lb_fiber *running;

/* --- switching ------------------------------------------------------------------------------ */

#if defined(WITH_ASAN)

static void enter(struct lb_fiber *fiber)
{
    __sanitizer_start_switch_fiber(&fiber->back.sanitizer, fiber->memory + fiber->guard_bytes,
                                   STACK_BYTES);
    swapcontext(&fiber->back.context, &fiber->own.context);
    __sanitizer_finish_switch_fiber(fiber->back.sanitizer, NULL, NULL);
}

static void arrive(struct lb_fiber *fiber)
{
    __sanitizer_finish_switch_fiber(fiber->own.sanitizer, &fiber->back.stack,
                                    &fiber->back.stack_bytes);
}

static void leave(struct lb_fiber *fiber)
{
    /* The fake stack of a fiber that ends is given back. */
    __sanitizer_start_switch_fiber(fiber->has_ended ? NULL : &fiber->own.sanitizer,
                                   fiber->back.stack, fiber->back.stack_bytes);
    swapcontext(&fiber->own.context, &fiber->back.context);
    arrive(fiber);
}

#elif defined(WITH_TSAN)

static void enter(struct lb_fiber *fiber)
{
    fiber->back.sanitizer = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber->own.sanitizer, 0);
    swapcontext(&fiber->back.context, &fiber->own.context);
}

static void arrive(struct lb_fiber *fiber)
{
    (void)fiber;
}

static void leave(struct lb_fiber *fiber)
{
    __tsan_switch_to_fiber(fiber->back.sanitizer, 0);
    swapcontext(&fiber->own.context, &fiber->back.context);
}

#else

static void enter(struct lb_fiber *fiber)
{
    if (_setjmp(fiber->back.registers) != 0)
        return;
    if (fiber->has_begun)
        _longjmp(fiber->own.registers, 1);
    fiber->has_begun = true;
    setcontext(&fiber->own.context);
}

static void arrive(struct lb_fiber *fiber)
{
    (void)fiber;
}

static void leave(struct lb_fiber *fiber)
{
    if (_setjmp(fiber->own.registers) == 0)
        _longjmp(fiber->back.registers, 1);
}

#endif

/* makecontext passes ints: the pointer comes in halves. */
static void begin(unsigned high, unsigned low)
{
    struct lb_fiber *fiber = (struct lb_fiber *)(((uintptr_t)high << 16 << 16) | (uintptr_t)low);
    arrive(fiber);
    fiber->main(fiber->arg);
    fiber->has_ended = true;
    leave(fiber);
    abort(); /* a fiber that has ended is never resumed */
}

/* --- life ----------------------------------------------------------------------------------- */

int lb_fiber_new(void (*main)(void *arg), void *arg, struct lb_fiber **ret_fiber,
                 struct lb_error *err)
{
    struct lb_fiber *fiber = lb_calloc(1, sizeof *fiber);
    fiber->main = main;
    fiber->arg = arg;
    fiber->guard_bytes = (size_t)sysconf(_SC_PAGESIZE);
    fiber->memory_bytes = fiber->guard_bytes + STACK_BYTES;
    fiber->memory = mmap(NULL, fiber->memory_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (fiber->memory == MAP_FAILED ||
        mprotect(fiber->memory, fiber->guard_bytes, PROT_NONE) != 0 ||
        getcontext(&fiber->own.context) != 0) {
        int rc = lb_fail(err, LB_E_ENV, "no stack for one more fiber: %s", strerror(errno));
        if (fiber->memory != MAP_FAILED)
            munmap(fiber->memory, fiber->memory_bytes);
        free(fiber);
        return rc;
    }
    fiber->own.context.uc_stack.ss_sp = fiber->memory + fiber->guard_bytes;
    fiber->own.context.uc_stack.ss_size = STACK_BYTES;
    fiber->own.context.uc_link = NULL; /* begin does not return */
    uintptr_t self = (uintptr_t)fiber;
    makecontext(&fiber->own.context, (void (*)(void))begin, 2, (unsigned)(self >> 16 >> 16),
                (unsigned)self);
#if defined(WITH_TSAN)
    fiber->own.sanitizer = __tsan_create_fiber(0);
#endif
    *ret_fiber = fiber;
    return 0;
}

void lb_fiber_free(struct lb_fiber *fiber)
{
    if (fiber == NULL)
        return;
#if defined(WITH_ASAN) /* of frames that never returned; the addresses are used again */
    __asan_unpoison_memory_region(fiber->memory, fiber->memory_bytes);
#elif defined(WITH_TSAN)
    __tsan_destroy_fiber(fiber->own.sanitizer);
#endif
    munmap(fiber->memory, fiber->memory_bytes);
    free(fiber);
}

void lb_fiber_resume(struct lb_fiber *fiber)
{
    fiber->resumer = running;
    running = fiber;
    enter(fiber);
    running = fiber->resumer;
}

void lb_fiber_yield(void)
{
    int kept = errno;
    leave(running);
    errno = kept;
}

bool lb_fiber_has_ended(const struct lb_fiber *fiber)
{
    return fiber->has_ended;
}

struct lb_fiber *lb_fiber_self(void)
{
    return running;
}

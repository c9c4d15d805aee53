/* lockbench: prove and price a lock that lives in a SQL table. */
#include "cli.h"

#include <signal.h>

int main(int argc, char **argv)
{
    /* A reader that goes away (`lockbench ... | head`) and a server that closes its socket are seen
     * as errors of the write, not as the end of the process: tables are to be dropped first. */
    signal(SIGPIPE, SIG_IGN);
    return (int)lb_cli_main(argc, argv);
}

/* lockbench: test and benchmark locks and job queues that live in SQL tables. */
#include "cli.h"

int main(int argc, char **argv)
{
    return (int)lb_cli_main(argc, argv);
}
